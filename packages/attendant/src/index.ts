export { attendantBuild, attendantProgram, rehearserProgram } from './installation.ts';
