/** The API's version: a client and a daemon that differ refuse one another by name. */
export const API_VERSION = 1;

/** The header that every answer carries. */
export const API_HEADER = 'idunn-api';

/** File name of the operator's socket in the runtime directory. */
export const OPERATOR_SOCKET = 'operator.sock';

/** Linux keeps a socket's path in 108 bytes, the closing zero included. */
export const SOCKET_PATH_LIMIT_BYTES = 107;
