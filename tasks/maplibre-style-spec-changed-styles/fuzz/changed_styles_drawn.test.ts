import {test} from 'vitest';
import {diff} from './diff';
import {drawing, shown as shownTo, written} from './testwright-drawing.ts';

const INPUTS = 500;
const SETTINGS = ['center', 'centerAltitude', 'zoom', 'bearing', 'pitch', 'roll', 'sprite', 'glyphs'];
const PARTS = ['state', 'font-faces', 'transition', 'light', 'sky', 'projection', 'metadata'];
const SOURCES = ['tiles', 'places', 'dem', 'constructor'];

const {draw, one, several} = drawing();
type Members = Record<string, unknown>;

/** Some of the names, each with what is made for it. */
function some(names: readonly string[], chance: number, make: (name: string) => unknown): Members {
    const chosen = names.filter(() => draw(chance) === 0);
    return Object.fromEntries(chosen.map((name) => [name, make(name)]));
}

const number = () => draw(3);
const value = (): unknown =>
    one<() => unknown>([
        number,
        () => one(['red', 'blue']),
        () => null,
        () => several(0, 2, number),
        () => some(['a', 'b', 'c'], 2, number),
        () => ['get', several(1, 2, number)]
    ])();

function source(): Members {
    const type = one(['geojson', 'geojson', 'geojson', 'vector']);
    return {type, ...some(['data', 'cluster', 'url'], 2, () => one([1, [1, 2], {a: 1}]))};
}

function layer(id: string): Members {
    return {
        id,
        ...some(['type', 'source-layer'], 4, () => one(['fill', 'line'])),
        ...some(['source'], 2, () => one(SOURCES)),
        ...some(['minzoom', 'maxzoom', 'filter', 'metadata', 'ref'], 4, value),
        ...some(['layout', 'paint', 'paint.night'], 3, () => some(['a', 'b', 'c'], 2, value))
    };
}

function layers(): unknown[] {
    const rest = ['a', 'b', 'c', 'd', 'e'].filter(() => draw(4));
    const order: string[] = [];
    while (rest.length) order.push(...rest.splice(draw(2) ? 0 : draw(rest.length), 1));
    return order.map(layer);
}

function style(): Members {
    return {
        version: draw(30) ? 8 : 7,
        ...some(SETTINGS, 6, value),
        ...some(PARTS, 4, () => some(['a', 'b', 'c'], 2, value)),
        ...some(['terrain'], 2, () => ({source: 'dem', ...some(['exaggeration'], 2, number)})),
        sources: some(SOURCES, 2, source),
        layers: layers()
    };
}

/** The style with one thing that may have changed. */
function edited(old: Members): Members {
    const other = style();
    const key = one(['layers', 'sources', 'terrain', 'light', 'state', 'layer', 'layer', 'member']);
    if (key === 'layer' || key === 'member') {
        const made = (old.layers as Members[]).map((each) => {
            if (draw(3)) return each;
            const young = layer(each.id as string);
            const name = one(Object.keys(young));
            return key === 'layer' ? young : {...each, [name]: young[name]};
        });
        return {...old, layers: made};
    }
    return {...old, [key]: other[key]};
}

const shown = (commands: unknown) => shownTo(commands, {depth: 12, maxArrayLength: 200});

function broken(): any {
    return one<unknown>([null, undefined, {}, {version: 8, layers: [null]}, {version: 8, sources: {tiles: null}}]);
}

test('answers to drawn inputs', () => {
    console.warn = () => {};
    written((call) => {
        for (let i = 0; i < INPUTS; i++) {
            const before = draw(12) ? style() : broken();
            const isWhole = before?.sources && before.layers;
            const after = draw(12) ? (isWhole && draw(4) ? edited(before) : style()) : broken();
            call(`from ${shown(before)} to ${shown(after)}`, () => shown(diff(before, after)));
        }
    });
});
