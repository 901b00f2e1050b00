// A click on a heading sorts its table by that column; a second click turns the order round.
for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("th").forEach((heading, column) => {
    heading.firstElementChild.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const body = table.tBodies[0];
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const apart = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
        return up ? apart : -apart;
      };
      body.append(...[...body.rows].sort(order));
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });
}
