// What is wrong with the page as it is now: by how much it has to be scrolled sideways, the headings of cards
// without space between themselves and the card before, and the violations of axe's rules, if they are to be run.
async ({ruled, leftOut}) => {
    const VALUES = /(?<= (?:href|id|for|name|value|title|datetime|action|src|aria-label|aria-labelledby|data-[a-z-]+)=")[^"]+|(?<=>)[^<]*\S[^<]*/g;

    // Rows, entries and options from the third on of those in the same place that differ by texts and values only:
    // two show also what may be there once only.
    const repeated = () => {
        const times = new Map();
        return [...document.querySelectorAll("main :is(tr, li, option)")].filter(row => {
            const look = row.parentNode.cloneNode().outerHTML + row.outerHTML.replace(VALUES, "…");
            times.set(look, (times.get(look) ?? 0) + 1);
            return times.get(look) > 2;
        });
    };

    // Axe takes a millisecond for each element of the page, also for those that it is told to exclude.
    const violations = async () => {
        const removed = [...leftOut.flatMap(selector => [...document.querySelectorAll(selector)]), ...repeated()];
        const places = removed.map(() => document.createComment(""));
        removed.forEach((element, number) => element.replaceWith(places[number]));
        const {violations} = await axe.run("html", {resultTypes: ["violations"], preload: false});
        places.forEach((place, number) => place.replaceWith(removed[number]));
        return violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
    };

    // What follows the size of the screen does so in the next frame.
    await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
    const {scrollWidth, clientWidth} = document.documentElement;
    const touching = [...document.querySelectorAll(".card")].filter((card, place, all) => {
        const before = all[place - 1]?.getBoundingClientRect(), own = card.getBoundingClientRect();
        return before && own.top > before.top && own.top < before.bottom + 8;
    });
    return [
        ...(scrollWidth === clientWidth ? [] : [`${scrollWidth - clientWidth} px too wide`]),
        ...touching.map(card => `no space above the card ${card.textContent.trim().split("\n")[0]}`),
        ...(ruled ? await violations() : []),
    ];
}
