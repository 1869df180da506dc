export { type ChannelDriver, type ChannelDriverOptions, createChannelDriver } from './driver.ts';
