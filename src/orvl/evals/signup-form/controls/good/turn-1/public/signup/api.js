/** What may become of a request. */
export const JOINED = "joined"
export const WRONG = "wrong"
export const SICK = "sick"
export const OFFLINE = "offline"

/**
 * Sends a sign-up. Gives `{ outcome }`, with the number of the new `member` if that is JOINED, and with `errors` if
 * it is WRONG.
 */
export async function signUp(values) {
  try {
    const answer = await send(values)
    if (answer.status === 201) return { outcome: JOINED, member: (await answer.json()).member }
    if (answer.status === 422) return { outcome: WRONG, errors: (await answer.json()).errors }
    return { outcome: SICK }
  } catch {
    return { outcome: OFFLINE }
  }
}

function send(values) {
  return fetch("/api/signups", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(values),
  })
}

/** What the office has laid down. Without an answer nothing is too short for the page; the server knows better. */
export async function loadPolicy() {
  try {
    return await (await fetch("/api/policy")).json()
  } catch {
    return { least: 0 }
  }
}
