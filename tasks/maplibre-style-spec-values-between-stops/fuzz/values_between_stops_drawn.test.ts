import {test} from 'vitest';
import {createExpression, createPropertyExpression, latest} from '..';
import {drawing, written} from './testwright-drawing.ts';

const INPUTS = 500;
const COLORS = [
    ...['red', 'blue', 'lime', 'black', 'white', 'grey', 'transparent', '#102030', '#12345678'],
    ...['rgba(255, 0, 0, 0)', 'rgba(9, 200, 30, 0.25)', 'hsl(350, 80%, 40%)', 'hsl(10, 80%, 40%)']
];
const ANCHORS = ['top', 'left', 'bottom-right'];

const {draw, one, several} = drawing();
const decimal = () => (draw(400) - 100) / 8;
const literal = (value: unknown) => ['literal', value];

const color = () => one(COLORS);
const colors = () => literal([color(), color(), ...several(0, draw(8) ? 0 : 1, color)]);
const numbers = () => literal([decimal(), decimal(), decimal()]);
const pair = () => literal([decimal(), decimal()]);
const padding = () => (draw(2) ? decimal() : literal(several(1, 4, decimal)));
const offset = () => [decimal(), decimal()];
const anchors = () =>
    literal(['top', offset(), ...(draw(6) ? ['left', offset()] : [one(ANCHORS), offset()])]);
const size = () => (draw(4) ? decimal() : ['get', 'size']);
const projection = () => one(['mercator', 'vertical-perspective']);

/** Group, name, and how an output of it is drawn. */
const PROPERTIES: [string, string, () => unknown][] = [
    ['paint_circle', 'circle-radius', size],
    ['paint_circle', 'circle-color', color],
    ['paint_circle', 'circle-color', color],
    ['paint_circle', 'circle-translate', pair],
    ['layout_symbol', 'icon-padding', padding],
    ['layout_symbol', 'text-variable-anchor-offset', anchors],
    ['paint_hillshade', 'hillshade-illumination-altitude', numbers],
    ['paint_hillshade', 'hillshade-shadow-color', colors],
    ['projection', 'type', projection]
];

function curve(): unknown {
    const kind = draw(24);
    if (kind < 6) return ['linear'];
    if (kind < 15) return ['exponential', one([0.5, 1, 1.2, 2, 3])];
    if (kind < 23) return ['cubic-bezier', ...several(4, 4, () => draw(9) / 8)];
    return one<unknown>([['odd'], [], 'linear', ['exponential'], ['cubic-bezier', 0, 1, 2, 0]]);
}

function expression(name: string, output: () => unknown): unknown {
    let at = draw(6);
    const next = () => [(at += draw(24) ? 1 + draw(4) : -draw(2)), output()];
    const stops = several(1, 5, next).flat();
    const space = one(['interpolate', 'interpolate-hcl', 'interpolate-lab']);
    return [name.endsWith('color') ? space : 'interpolate', curve(), ['zoom'], ...stops];
}

const text = (value: any) =>
    typeof value === 'number'
        ? `number ${value}`
        : JSON.stringify(Array.isArray(value) ? value : (value?.values ?? value)) + ` ${value?.rgb ?? ''}`;

/** What the expression gives at some zoom levels, or why it is refused. */
function answers(value: unknown, property: object | null, zooms: number[]): string {
    const feature = {type: 'Point', properties: {size: 7.5}} as const;
    const made = property
        ? createPropertyExpression(value, 'rk', property as any)
        : createExpression(value, 'rk');
    if (made.result === 'error') return made.value.map((e) => `${e.key} ${e.message}`).join();
    return zooms.map((zoom) => text(made.value.evaluate({zoom}, feature))).join(' ');
}

test('answers to drawn inputs', () => {
    console.warn = () => {};
    written((call) => {
        for (let i = 0; i < INPUTS; i++) {
            const [group, name, output] = one(PROPERTIES);
            const value = expression(name, output);
            // Somewhere far below the first stop, and somewhere among them.
            const zooms = [-9, ...several(3, 3, () => draw(100) / 6)];
            const isBare = !draw(3) && /radius|circle-color/.test(name);
            const property = isBare ? null : latest[group][name];
            const input = JSON.stringify([property ? name : '', value, zooms]);
            const answer = () => answers(JSON.parse(JSON.stringify(value)), property, zooms);
            call(input, answer, String);
        }
    });
});
