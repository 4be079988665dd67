const layout = (title, content) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
  td, th { text-align: left; padding: 0.25rem 1rem 0.25rem 0; }
</style>
<h1>${escaped(title)}</h1>
${content}
</html>
`;

export const loginPage = () =>
  layout(
    'Reactors',
    '<form method="post" action="/login"><button>Log in with reactord</button></form>',
  );

export function reactorsPage(username, reactors) {
  const rows = reactors.map(
    ({ id, name, image, status }) =>
      `<tr>${[name ?? id, image, status].map((each) => `<td>${escaped(each)}</td>`).join('')}</tr>`,
  );
  const table =
    rows.length === 0
      ? '<p>You have no reactors yet.</p>'
      : `<table><tr><th>Reactor<th>Image<th>Status</tr>${rows.join('')}</table>`;
  return layout(
    `Reactors of ${username}`,
    `${table}<form method="post" action="/logout"><button>Log out</button></form>`,
  );
}

export const problemPage = (sentence) =>
  layout('That did not work', `<p>${escaped(sentence)}</p><p><a href="/">Back</a></p>`);

function escaped(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return String(text).replace(/[&<>"']/g, (character) => entities[character]);
}
