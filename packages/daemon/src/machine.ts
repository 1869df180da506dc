/** The name of this machine until there are others. */
export const MACHINE = 'local';
