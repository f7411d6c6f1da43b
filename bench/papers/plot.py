# SPDX-License-Identifier: Apache-2.0
"""Draws bar charts and line charts as SVG."""
COLOURS = ('#4c72b0', '#dd8452', '#55a868', '#c44e52', '#8172b3', '#937860', '#8c8c8c', '#ccb974', '#64b5cd', '#da8bc3')
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 320, 50, 50, 40


def escape(text):
    return str(text).replace('&', '&amp;').replace('<', '&lt;')


def text(x, y, what, anchor='middle'):
    return '<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>\n' % (x, y, anchor, escape(what))


class Plot:
    """A chart with its title, legend and axes. The y axis begins at 0 and ends a little above @most."""

    def __init__(self, title, unit, series, most):
        self.most = 1.05 * most or 1
        self.body = text(WIDTH / 2, 16, title)
        for i, name in enumerate(series):
            x = LEFT + i * (WIDTH - LEFT) / len(series)
            self.body += '<rect x="%.1f" y="26" width="10" height="10" fill="%s"/>\n' % (x, COLOURS[i % len(COLOURS)]) + text(x + 14, 35, name, 'start')
        step = 10 ** (len(str(int(self.most))) - 1)
        step = next(s for s in (step / 5, step / 2, step, 2 * step) if self.most / s <= 8)
        for i in range(int(self.most / step) + 1):
            y = self.y(i * step)
            self.body += '<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>\n' % (LEFT, WIDTH, y, y) + text(LEFT - 6, y + 4, '%g' % (i * step), 'end')
        self.body += text(4, TOP - 4, unit, 'start')

    def y(self, value):
        return HEIGHT - BOTTOM - value / self.most * (HEIGHT - BOTTOM - TOP)

    def write(self, path):
        with open(path, 'w') as f:
            f.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">\n'
                    '<rect width="100%%" height="100%%" fill="white"/>\n%s</svg>\n' % (WIDTH + 10, HEIGHT, self.body))


def bars(path, title, unit, groups, series):
    """Writes a bar chart to @path. @series maps a name to a list with a value for each of @groups."""
    plot = Plot(title, unit, series, max(v for values in series.values() for v in values))
    wide = (WIDTH - LEFT) / len(groups)
    for g, name in enumerate(groups):
        plot.body += text(LEFT + (g + .5) * wide, HEIGHT - BOTTOM + 16, name)
        for s, values in enumerate(series.values()):
            x, y, w = LEFT + (g + .1 + .8 * s / len(series)) * wide, plot.y(values[g]), .8 * wide / len(series)
            plot.body += '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s, %s: %.3g</title></rect>\n' % (
                x, y, w, HEIGHT - BOTTOM - y, COLOURS[s % len(COLOURS)], escape(name), escape(list(series)[s]), values[g])
    plot.write(path)


def lines(path, title, unit, ticks, series):
    """Writes a line chart to @path. @series maps a name to a list with a value for each of @ticks, which are equally spaced."""
    plot = Plot(title, unit, series, max(v for values in series.values() for v in values))
    wide = (WIDTH - LEFT) / len(ticks)
    for i, tick in enumerate(ticks):
        plot.body += text(LEFT + (i + .5) * wide, HEIGHT - BOTTOM + 16, tick)
    for s, (name, values) in enumerate(series.items()):
        points = ' '.join('%.1f,%.1f' % (LEFT + (i + .5) * wide, plot.y(v)) for i, v in enumerate(values))
        plot.body += '<polyline points="%s" fill="none" stroke="%s" stroke-width="2"><title>%s</title></polyline>\n' % (
            points, COLOURS[s % len(COLOURS)], escape(name))
    plot.write(path)
