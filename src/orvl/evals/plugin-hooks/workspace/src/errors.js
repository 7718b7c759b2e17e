/** What went wrong, for the people who use heddle. `status` is how the command line exits. */
export class HeddleError extends Error {
  /**
   * @param {string} message
   * @param {{ status?: number, file?: string, cause?: unknown }} [details]
   */
  constructor(message, { status = 1, file, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'HeddleError'
    this.status = status
    this.file = file
  }
}

export const USAGE = 2
