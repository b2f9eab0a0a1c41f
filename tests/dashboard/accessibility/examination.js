// What is wrong with the document as it is now: by how much it has to be scrolled sideways, the headings of cards
// without space between themselves and the card before, and the violations of axe's rules, if they are to be run.
// The document may have the mains of several pages (`documents.py`).
async ({ruled, leftOut}) => {
    const VALUES = /(?<= (?:href|id|for|name|value|title|datetime|action|src|aria-label|aria-labelledby|aria-describedby|data-[a-z-]+)=")[^"]+|(?<=>)[^<]*\S[^<]*/g;
    const mains = [...document.querySelectorAll("main")];
    const addressOf = element => element.closest("main")?.dataset.address ?? location.href;

    const opening = element => element.cloneNode().outerHTML.replace(VALUES, "…");

    // Rows, entries, facts and options from the third on of those in the same place of a page that differ by texts and
    // values only: two show also what may be there once only. And what pages share: cards and fields that look as
    // those of a page before.
    const repeated = () => {
        const times = new Map(), firsts = new Map();
        const isRepeated = unit => {
            const main = unit.closest("main"), look = opening(unit.parentNode) + unit.outerHTML.replace(VALUES, "…");
            if (unit.matches(".card, .field")) {
                if (!firsts.has(look)) firsts.set(look, main);
                return firsts.get(look) !== main;
            }
            const ofMain = times.get(main) ?? times.set(main, new Map()).get(main);
            ofMain.set(look, (ofMain.get(look) ?? 0) + 1);
            return ofMain.get(look) > 2;
        };
        return [...document.querySelectorAll("main :is(tr, li, option, dl > div, .card, .field)")].filter(isRepeated);
    };

    // The contrast of a text follows from its own look and from the grounds that it stands on. Of those with the same,
    // one is looked at; what may stand before others is looked at wherever it does.
    const grounds = new Map();
    const groundOf = element => {
        if (!element) return "";
        if (!grounds.has(element)) {
            const {backgroundColor, backgroundImage, opacity, filter, position} = getComputedStyle(element);
            const place = ["static", "relative"].includes(position) ? "" : opening(element);
            const own = [backgroundColor, backgroundImage, opacity, filter, place].join();
            const below = groundOf(element.parentElement);
            grounds.set(element, own === "rgba(0, 0, 0, 0),none,1,none," ? below : `${below} ${own}`);
        }
        return grounds.get(element);
    };
    const hasText = element => element.matches("input, select, textarea")
        || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const lookOf = element => {
        const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element);
        const isDisabled = Boolean(element.closest(":disabled, [aria-disabled]"));
        return [color, fontSize, fontWeight, textShadow, isDisabled, groundOf(element)].join();
    };
    const markTexts = () => {
        const looks = new Set();
        for (const element of document.querySelectorAll("body *")) {
            const look = hasText(element) && element.checkVisibility() && lookOf(element);
            element.toggleAttribute("data-text", look && !looks.has(look));
            looks.add(look);
        }
    };

    // Names of other elements that are not in the same main, which axe does not see where it is told of a look once.
    const NAMING = ["for", "aria-labelledby", "aria-describedby", "aria-controls"];
    const unknownNames = () => mains.flatMap(main => NAMING.flatMap(attribute =>
        [...main.querySelectorAll(`[${attribute}]`)].flatMap(element => element.getAttribute(attribute).split(" "))
            .filter(name => !main.contains(document.getElementById(name)))
            .map(name => `${addressOf(main)} ${attribute}="${name}" names nothing`)));

    // What has to be unique on a page is so in its main.
    const isOfOnePage = (rule, node) => {
        if (rule.id !== "landmark-unique") return true;
        const same = [node, ...node.any.flatMap(check => check.relatedNodes)]
            .map(({element}) => element.closest("main"));
        return new Set(same).size < same.length;
    };

    // Axe takes a millisecond for each element of the page, also for those that it is told to exclude.
    const violations = async () => {
        const removed = [...leftOut.flatMap(selector => [...document.querySelectorAll(selector)]), ...repeated()];
        const places = removed.map(() => document.createComment(""));
        removed.forEach((element, number) => element.replaceWith(places[number]));
        markTexts();
        axe.configure({rules: [{id: "color-contrast", selector: "[data-text]"}]});
        const rules = {"landmark-no-duplicate-main": {enabled: mains.length === 1}};
        const options = {resultTypes: ["violations"], preload: false, elementRef: true, rules};
        const {violations} = await axe.run("html", options);
        const problems = violations.flatMap(rule => rule.nodes.filter(node => isOfOnePage(rule, node))
            .map(node => `${addressOf(node.element)} ${rule.id}: ${node.html.slice(0, 200)}`));
        places.forEach((place, number) => place.replaceWith(removed[number]));
        return problems;
    };

    // What follows the size of the screen does so in the next frame.
    await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
    const {scrollWidth, clientWidth} = document.documentElement;
    const wide = mains.filter(main => main.scrollWidth > main.clientWidth);
    const touching = [...document.querySelectorAll(".card")].filter((card, place, all) => {
        const before = all[place - 1]?.getBoundingClientRect(), own = card.getBoundingClientRect();
        return before && own.top > before.top && own.top < before.bottom + 8;
    });
    return [
        ...(scrollWidth === clientWidth ? [] : [`${wide.map(addressOf)} ${scrollWidth - clientWidth} px too wide`]),
        ...touching.map(card => `${addressOf(card)} no space above the card ${card.textContent.trim().split("\n")[0]}`),
        ...mains.filter(main => !main.querySelector("h1")).map(main => `${addressOf(main)} no heading`),
        ...(ruled ? unknownNames() : []),
        ...(ruled ? await violations() : []),
    ];
}
