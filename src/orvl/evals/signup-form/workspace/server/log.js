/** `21:14:02 POST /api/signups 201 180 ms #2207`; a response that never went out has `-` for its status. */
export function logLine(request, response, took) {
  const time = new Date().toISOString().slice(11, 19)
  const status = response.writableFinished ? response.statusCode : "-"
  const member = response.said?.member ? ` #${response.said.member}` : ""
  return `${time} ${request.method} ${request.url} ${status} ${took} ms${member}`
}
