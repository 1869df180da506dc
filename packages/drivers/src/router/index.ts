export { createRouterDriver, type RouterDriver, type RouterDriverOptions, type RouterStatus } from './driver/driver.ts';
export { routerProgram } from './driver/program.ts';
export { type RouterMetrics } from './router.ts';
