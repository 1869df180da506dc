export { channelsOf, type IsAttended, openingFirst } from './channels.ts';
export {
  type AttendantDriver,
  type AttendantDriverOptions,
  type AttendantStatus,
  createAttendantDriver,
} from './driver.ts';
export type { AttendantMetrics, Attended } from './protocol.ts';
