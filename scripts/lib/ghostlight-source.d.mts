export function git(repository: string, ...words: readonly string[]): string;
export function commitAll(repository: string, message: string): string;
export function ghostlightRepository(repository: string): string;
