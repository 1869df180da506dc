export { attendantBuild, attendantProgram } from './installation.ts';
