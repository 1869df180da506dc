/** The front door; the room is being built. */
