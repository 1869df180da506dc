// Ghostlight's tests are its own, in plain JavaScript, so that they run in its repository; here they run in this one.
await import(new URL('ghostlight/test/ghostlight.test.js', import.meta.url).href);
