/** Sends a sign-up; what the server says, or an error with its status. */
export async function signUp(values) {
  const answer = await fetch("/api/signups", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(values),
  })
  const said = await answer.json()
  if (answer.status !== 201) throw new Error(`Error ${answer.status}`)
  return said
}
