// Every page works without this script, by links and forms. It makes sliders of the two lists of
// times on a customer's page, and keeps the list of the newest events current.
"use strict";

const content = document.getElementById("content");
const times = [...document.querySelectorAll(".times details")];
// At most one page is under way; of the addresses wanted meanwhile, only the last is loaded.
let wanted = location.href;
let askedCount = 0;
let isLoading = false;

async function show(address) {
  wanted = address;
  askedCount += 1;
  if (isLoading) return;
  isLoading = true;
  try {
    let servedCount;
    while (servedCount !== askedCount) {
      servedCount = askedCount;
      const shown = wanted;
      const response = await fetch(shown);
      // Not signed in any more.
      if (response.status === 401) return location.assign(shown);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const isWhole = replace(page);
      history.replaceState(null, "", shown);
      if (isWhole && servedCount === askedCount) sliders.forEach((slider) => slider.read());
    }
  } catch {
    content.querySelector("[role=alert]")?.remove();
    const words = "The service did not answer; reload the page.";
    content.prepend(element("p", { role: "alert" }, words));
  } finally {
    isLoading = false;
  }
}

// Shows a page; a refusal has no content, but says why in its main part, and leaves the sliders.
function replace(page) {
  const found = page.getElementById("content");
  const focused = content.contains(document.activeElement) && document.activeElement.href;
  content.replaceChildren(...(found ?? page.querySelector("main")).childNodes);
  nameLinks();
  if (focused) [...content.querySelectorAll("a")].find((link) => link.href === focused)?.focus();
  if (!found) return false;
  for (const list of times) list.replaceChildren(...page.getElementById(list.id).childNodes);
  // On the first page, the form may have unsent text.
  const form = times.length ? document.querySelector("header .search") : null;
  form?.replaceWith(page.querySelector("header .search"));
  return true;
}

// A ticket needs the whole address.
function nameLinks() {
  for (const link of content.querySelectorAll(".cite a")) link.textContent = link.href;
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A slider over the links of a list.
function slider(list) {
  const input = element("input", { type: "range", min: 0 });
  const shown = element("span", {});
  const summary = list.querySelector("summary");
  list.before(
    element("div", { class: "slider" }, element("label", {}, summary.dataset.name, input), shown));

  const links = () => [...list.querySelectorAll("li a")];
  const say = (text, words) => {
    shown.textContent = text;
    input.setAttribute("aria-valuetext", words);
  };
  const read = () => {
    const current = links().findIndex((link) => link.hasAttribute("aria-current"));
    input.max = Math.max(0, links().length - 1);
    input.value = Math.max(0, current);
    input.disabled = links().length === 0;
  };
  input.addEventListener("input", () => {
    const link = links()[input.value];
    say(link.textContent, link.parentElement.textContent);
    const address = new URL(wanted);
    address.searchParams.set(list.id, new URL(link.href).searchParams.get(list.id));
    show(address.href);
  });
  read();
  const now = summary.querySelector("time").textContent;
  say(now, now);
  return { read };
}

const sliders = times.map(slider);

// A browser opens few connections to one host, so a page that is not seen has none.
let source;
function listen() {
  source?.close();
  if (document.hidden) return;
  source = new EventSource(content.dataset.live);
  source.addEventListener("message", (message) => {
    const isNew = content.dataset.end !== message.data;
    content.dataset.end = message.data;
    if (isNew) show(location.href);
  });
  // Closed for good after another answer than 200: the service is busy or away, or the session ended.
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(again, 5000);
  });
}

function again() {
  show(location.href);
  listen();
}

if (content) nameLinks();
if (content?.dataset.live) {
  document.addEventListener("visibilitychange", listen);
  listen();
}
