// Looks at a report in a real browser. Usage: node report.mjs CHROMIUM CASE PAGE EXPECTED
//
// EXPECTED is JSON, what the other side knows of the page. Pictures are put beside the page. A case
// that fails says why on standard error.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const [executablePath, name, file, expectedJson] = process.argv.slice(2);
const expected = JSON.parse(expectedJson);
const address = pathToFileURL(file).href;
const picture = (kind) => file.replace(/\.html$/, `-${kind}.png`);

// Chromium keeps no sandbox for root.
const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath, args });

/** Opens the page; whatever it complains of or asks for is kept. */
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(dialog.message()) && dialog.dismiss());
  page.on("request", (request) => {
    if (request.url() !== address) complaints.push(`asks for ${request.url()}`);
  });
  await page.goto(address);
  return { page, complaints };
}

/** The column of the treatments' table under this head, from 0. */
async function columnOf(page, head) {
  const heads = await page.locator("table.treatments thead th").allTextContents();
  const column = heads.indexOf(head);
  assert.notEqual(column, -1, `no column ${head} in ${heads}`);
  return column;
}

/** The cells of a column that are to be seen: numbers, or words. */
function cells(page, column) {
  return page.locator("table.treatments tbody").evaluate((body, column) => {
    const rows = [...body.rows].filter((row) => !row.hidden);
    return rows.map((row) => row.cells[column]).map((cell) =>
      cell.classList.contains("number") ? Number.parseFloat(cell.dataset.value) : cell.innerText);
  }, column);
}

/** Opens all that is folded. */
function unfold(page) {
  return page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
}

/** What is wider than the place it has, apart from what scrolls in its own box. */
function overflowing(page) {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    return wide > 0
      ? [...document.querySelectorAll("body *")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest(".scroll"))
        .map((one) => `${one.tagName}.${one.className} ${one.id}`)
        .concat(`the page, by ${wide} px`)
      : [];
  });
}

const cases = {
  async opens() {
    const { page, complaints } = await open();
    const ids = await page.locator("main > section").evaluateAll((all) => all.map((one) => one.id));
    assert.deepEqual(ids, expected.sections);
    assert.equal(await page.locator("h1").innerText(), expected.question);
    assert.match(await page.locator("#answer").innerText(), new RegExp(expected.answer));
    const charts = await page.locator("figure").evaluateAll((all) => all.map((one) => one.id));
    assert.deepEqual(charts, expected.charts);
    for (const id of charts) {
      const drawn = await page.locator(`#${id} svg`).boundingBox();
      assert.ok(drawn.height > 50, `${id} is flat`);
    }
    for (const [kind, count] of Object.entries(expected.marks)) {
      const marks = page.locator(`figure[id^=chart-${kind}] svg circle`);
      assert.equal(await marks.count(), count, `marks in charts of ${kind}`);
    }
    await page.screenshot({ path: picture("light"), fullPage: true });
    assert.deepEqual(complaints, []);
  },

  async sorts() {
    const { page } = await open();
    for (const { head, isNumeric } of expected.columns) {
      const column = await columnOf(page, head);
      const button = page.locator("table.treatments thead th").nth(column).locator("button");
      const sorted = async (direction) => {
        const found = await cells(page, column);
        const present = found.filter((cell) => cell !== "" && !Number.isNaN(cell));
        const compare = (one, other) =>
          isNumeric ? one - other : one.localeCompare(other, "en", { numeric: true });
        const wanted = [...present].sort((one, other) => direction * compare(one, other));
        assert.ok(new Set(present).size > 1, `nothing to sort by ${head}`);
        assert.deepEqual(found.slice(0, present.length), wanted, `${head}, ${direction}`);
        const state = await button.locator("xpath=..").getAttribute("aria-sort");
        assert.equal(state, direction > 0 ? "ascending" : "descending");
        assert.equal(await page.locator("table.treatments [aria-sort]").count(), 1);
      };
      await button.click();
      await sorted(1);
      await button.click();
      await sorted(-1);
      await button.press("Enter");
      await sorted(1);
      await button.press("Space");
      await sorted(-1);
    }
  },

  async filters() {
    const { page } = await open();
    const field = page.getByLabel("Filter rows").first();
    const count = async () => (await cells(page, 0)).length;
    const all = await count();
    // By keyboard alone: the field is reached with Tab.
    for (let presses = 0; presses < 100; presses += 1) {
      await page.keyboard.press("Tab");
      if (await field.evaluate((one) => one === document.activeElement)) break;
    }
    await page.keyboard.type(expected.filter);
    assert.equal(await count(), expected.left);
    assert.ok(expected.left > 0 && expected.left < all);
    const says = await page.getByRole("status").first().innerText();
    assert.equal(says, `${expected.left} of ${all}`);
    await field.click();
    await field.fill("nothing has this name");
    assert.equal(await count(), 0);
    await field.fill("");
    assert.equal(await count(), all);
  },

  async colours() {
    const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const luminance = (colour) =>
      colour.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 765;
    const light = await open({ colorScheme: "light" });
    assert.ok(luminance(await ground(light.page)) > 0.9);
    await light.page.getByRole("button", { name: "Dark" }).press("Enter");
    assert.ok(luminance(await ground(light.page)) < 0.2);
    const { page, complaints } = await open({ colorScheme: "dark" });
    assert.ok(luminance(await ground(page)) < 0.2);
    // No drawing keeps ink that is as dark as its ground; what stands on a bar is black on it.
    const onGround = "figure svg text:not([fill='#000000'])";
    const inks = await page.locator(onGround).evaluateAll((texts) =>
      [...new Set(texts.map((text) => getComputedStyle(text).fill))]);
    assert.deepEqual(inks.filter((ink) => luminance(ink) < 0.5), []);
    await page.screenshot({ path: picture("dark"), fullPage: true });
    await page.getByRole("button", { name: "Light" }).click();
    assert.ok(luminance(await ground(page)) > 0.9);
    assert.deepEqual(complaints, []);
  },

  async phone() {
    for (const width of [360, 320]) {
      const { page } = await open({ viewport: { width, height: 700 }, hasTouch: true });
      await unfold(page);
      assert.deepEqual(await overflowing(page), [], `at ${width} px`);
      if (width === 360) await page.screenshot({ path: picture("phone"), fullPage: true });
    }
  },

  async prints() {
    const { page } = await open();
    const pdf = await page.pdf({ path: file.replace(/\.html$/, ".pdf"), format: "A4" });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
    assert.ok(pages > 1, `${pages} pages`);
    // As wide as what is between the margins of A4.
    const paper = await open({ viewport: { width: 680, height: 1000 } });
    await paper.page.emulateMedia({ media: "print" });
    assert.deepEqual(await overflowing(paper.page), []);
    const cut = await paper.page.locator(".scroll, pre").evaluateAll((boxes) =>
      boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText));
    assert.deepEqual(cut, []);
    const folded = await paper.page.locator("details > :last-child").evaluateAll((parts) =>
      parts.filter((part) => !part.checkVisibility({ contentVisibilityAuto: true })).length);
    assert.equal(folded, 0, "parts that stay folded");
  },

  async accessible() {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 } });
      await context.addInitScript({ path: AXE });
      const page = await context.newPage();
      await page.goto(address);
      await unfold(page);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      const says = violations.map(({ id, help, nodes }) =>
        `${id}: ${help}\n  ${nodes.slice(0, 5).map((node) => node.html).join("\n  ")}`);
      assert.deepEqual(says, [], colorScheme);
      const without = await page.locator("table:not(:has(> caption))").count();
      assert.equal(without, 0, "tables without a caption");
      const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
      assert.equal(new Set(ids).size, ids.length, "an id is there twice");
    }
  },

  async copies() {
    const { page } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    const button = page.locator("button.copy").first();
    await button.click();
    assert.equal(await page.evaluate(() => String(getSelection())), expected.command);
    // The clipboard answers later than the click.
    await button.filter({ hasText: /Copied|Selected/ }).waitFor();
  },

  async unscripted() {
    const { page, complaints } = await open({ javaScriptEnabled: false });
    assert.equal(await page.locator("main > section").count(), expected.sections.length);
    assert.equal(await page.locator("button:visible").count(), 0);
    assert.deepEqual(complaints, []);
  },

  async hostile() {
    const { page, complaints } = await open();
    assert.equal(await page.locator("img, iframe, object, embed, link").count(), 0);
    assert.equal(await page.locator("script").count(), 1);
    const handlers = await page.evaluate(() =>
      [...document.querySelectorAll("*")].flatMap((one) =>
        one.getAttributeNames().filter((attribute) => attribute.startsWith("on"))));
    assert.deepEqual(handlers, []);
    const text = await page.locator("body").evaluate((body) => body.textContent);
    for (const said of expected.says) assert.ok(text.includes(said), said);
    assert.deepEqual(complaints, []);
  },
};

try {
  assert.ok(cases[name], `no case ${name}`);
  await cases[name]();
} catch (error) {
  writeFileSync(2, `${error.message}\n`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
