import {test} from 'vitest';
import {migrate} from '../migrate';
import {drawing, written} from './testwright-drawing.ts';

const INPUTS = 300;
const NAMES = ['kind', 'size', 'name', '$id', '$type', 'a b', 'constructor'];
const WORDS = ['park', 'lake', 'Point', '', 'blue', '{name}', 'big {size}', '{a}{b} m', '{}'];
const COLORS = ['red', 'hsl(10, 0.5, .25)', 'hsla(20,30%,.4,0.5)', 'HSL(30,0.1,0.2)', 'hsl(3)'];

const {draw, one, several} = drawing();
const maybe = (name: string, make: () => unknown) => (draw(2) ? {[name]: make()} : {});

/** Group, name, and how an output of it is drawn. */
const PROPERTIES: [string, string, () => unknown][] = [
    ['paint', 'circle-radius', () => draw(40) / 4],
    ['paint', 'circle-color', () => one(COLORS)],
    ['paint', 'circle-translate', () => [draw(9), draw(9)]],
    ['paint', 'circle-pitch-alignment', () => one(['map', 'viewport'])],
    ['paint', 'fill-outline-color', () => one(COLORS)],
    ['paint', 'line-dasharray', () => several(0, 3, () => draw(5))],
    ['layout', 'text-field', () => one(WORDS)],
    ['layout', 'icon-image', () => one(WORDS)],
    ['layout', 'text-font', () => several(1, 2, () => one(WORDS))],
    ['layout', 'icon-allow-overlap', () => draw(2) === 1],
    ['layout', 'text-anchor', () => one(['left', 'right', 'top'])],
    ['layout', 'visibility', () => one(['none', 'visible'])]
];

function input(type: string | undefined): () => unknown {
    if (type !== 'categorical') {
        let at = draw(4);
        return () => (at += draw(3));
    }
    return one<() => unknown>([() => one(WORDS), () => draw(2) === 1, () => draw(6)]);
}

/** A function of an old style, most of them sound. */
function oldFunction(output: () => unknown): object {
    const kind = draw(5);
    const types = [undefined, 'exponential', 'interval', kind === 1 ? undefined : 'categorical'];
    const type = draw(40) ? one(types) : 'odd';
    const common = {
        ...(type ? {type} : {}),
        ...maybe('base', () => one([1, 1.5, 2, 0.5])),
        ...maybe('colorSpace', () => one(['hcl', 'lab', 'rgb'])),
        ...maybe('default', output)
    };
    const value = input(type);
    if (kind === 0) return {...common, type: 'identity', property: one(NAMES)};
    if (kind === 1) return {...common, stops: several(1, 4, () => [value(), output()])};
    const property = one(NAMES);
    if (kind < 4) return {...common, property, stops: several(1, 4, () => [value(), output()])};
    const zooms = several(1, 3, () => draw(9)).sort();
    const stops = zooms.flatMap((zoom) =>
        several(1, 3, () => [{zoom, value: value()}, output()])
    );
    return {...common, property, stops};
}

const datum = () => one<unknown>([1, 2, 2, 7.5, '2', 'park', 'lake', true, false, null]);

function oldFilter(depth: number): unknown {
    const kind = draw(depth > 0 ? 9 : 4);
    if (kind === 0) return [one(['==', '!=', '<', '>', '<=', '>=']), one(NAMES), datum()];
    if (kind === 1) {
        const same = one([datum, () => one(WORDS), () => draw(5)]);
        return [one(['in', '!in']), one(NAMES), ...several(0, 5, same)];
    }
    if (kind === 2) return [one(['has', '!has']), one(NAMES)];
    if (kind === 3) return one<unknown>([['==', ['get', 'a'], 1], ['any'], ['none'], ['all'], ['odd', 1]]);
    return [one(['any', 'all', 'none']), ...several(0, 3, () => oldFilter(depth - 1))];
}

function property(): [string, string, unknown] {
    const [group, name, output] = one(PROPERTIES);
    const kind = draw(8);
    if (kind === 0) return [group, name, output()];
    if (kind === 1) return [group, name, ['step', ['zoom'], output(), 4, output()]];
    if (kind === 2) return [group, `${name}-transition`, {duration: draw(900)}];
    return [group, name, oldFunction(output)];
}

function layer(): object {
    const made: any = {id: one(WORDS), type: 'circle', paint: {}, layout: {}};
    for (const [group, name, value] of several(1, 3, property)) made[group][name] = value;
    // Each layer has something old, or the ways of migrating it would agree by chance.
    made.layout['text-size'] = {base: 1 + draw(900) / 100, stops: [[0, draw(90)], [9, draw(90)]]};
    return draw(2) ? {...made, filter: oldFilter(2)} : made;
}

test('answers to drawn inputs', () => {
    written((call) => {
        for (let i = 0; i < INPUTS; i++) {
            const text = JSON.stringify({version: 8, sources: {}, layers: several(1, 2, layer)});
            call(text, () => JSON.stringify(migrate(JSON.parse(text))));
        }
    });
});
