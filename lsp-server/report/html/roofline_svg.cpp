#include "lsp-server/report/html/roofline_svg.h"

#include "lsp-server/report/html/log_axis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kernelskill::lsp {
namespace {

constexpr double width = 640;
constexpr double height = 420;
constexpr double left = 64;
constexpr double right = width - 16;
constexpr double top = 16;
constexpr double bottom = height - 52;
/// Height of the text beside points and lines.
constexpr double lineHeight = 15;
constexpr double letterWidth = 7.2;
constexpr double giga = 1e9;

std::string px(double value) {
    return fmt::format("{:.1f}", value);
}

std::string_view toneClass(Tone tone) {
    switch (tone) {
    case Tone::Good:
        return "good";
    case Tone::Bad:
        return "bad";
    case Tone::Quiet:
        return "quiet";
    case Tone::Plain:
        break;
    }
    return "plain";
}

struct Place {
    double x = 0;
    double y = 0;
};

class Drawing {
public:
    Drawing(HtmlWriter& page, const RooflinePlot& plot, engine::Interval intensities,
            engine::Interval rates)
        : page_(page), plot_(plot), x_(intensities.low, intensities.high, left, right),
          y_(rates.low, rates.high, bottom, top) {}

    void draw() {
        page_.open("svg", {{"class", "roofline"},
                           {"viewBox", fmt::format("0 0 {:g} {:g}", width, height)},
                           {"role", "img"},
                           {"aria-label", fmt::format("Roofline of {}", plot_.gpu)}});
        drawAxes();
        for (const RooflineCeiling& ceiling : plot_.ceilings) {
            if (ceiling.isMemory)
                drawSlope(ceiling);
            else
                drawRoof(ceiling);
        }
        for (const RooflinePoint& point : plot_.points)
            drawArrow(point);
        for (const RooflinePoint& point : plot_.points)
            drawPoint(point);
        drawLabels();
        page_.close();
    }

private:
    void line(std::string_view kind, Place from, Place to) {
        page_.empty("line", {{"class", std::string(kind)},
                             {"x1", px(from.x)},
                             {"y1", px(from.y)},
                             {"x2", px(to.x)},
                             {"y2", px(to.y)}});
    }

    void write(std::string_view kind, Place at, std::string_view anchor, std::string_view text,
               double degrees = 0) {
        page_.element(
            "text",
            {{"class", std::string(kind)},
             {"x", px(at.x)},
             {"y", px(at.y)},
             {"text-anchor", std::string(anchor)},
             {"transform", fmt::format("rotate({:.2f} {:.1f} {:.1f})", degrees, at.x, at.y)}},
            text);
    }

    void drawAxes() {
        for (const LogAxis::Tick& tick : x_.ticks()) {
            const double x = x_.place(tick.value);
            if (tick.isDecade)
                line("grid", {x, top}, {x, bottom});
            line("tick", {x, bottom}, {x, bottom + (tick.isDecade ? 6 : 3)});
            if (tick.isDecade)
                write("number", {x, bottom + 20}, "middle", decadeText(tick.value));
        }
        for (const LogAxis::Tick& tick : y_.ticks()) {
            const double y = y_.place(tick.value);
            if (tick.isDecade)
                line("grid", {left, y}, {right, y});
            line("tick", {left - (tick.isDecade ? 6 : 3), y}, {left, y});
            if (tick.isDecade)
                write("number", {left - 10, y + 4}, "end", decadeText(tick.value / giga));
        }
        write("axis", {(left + right) / 2, height - 10}, "middle",
              "arithmetic intensity, FLOP per byte of DRAM");
        write("axis", {14, (top + bottom) / 2}, "middle", "GFLOP/s", -90);
    }

    [[nodiscard]] double highestRoof() const {
        double highest = 0;
        for (const RooflineCeiling& ceiling : plot_.ceilings)
            highest = ceiling.isMemory ? highest : std::max(highest, ceiling.perSecond);
        return highest;
    }

    [[nodiscard]] double steepestSlope() const {
        double steepest = 0;
        for (const RooflineCeiling& ceiling : plot_.ceilings)
            steepest = ceiling.isMemory ? std::max(steepest, ceiling.perSecond) : steepest;
        return steepest;
    }

    [[nodiscard]] static std::string nameOf(const RooflineCeiling& ceiling) {
        return fmt::format("{} {}, {}", ceiling.name, rateText(ceiling.perSecond, ceiling.isMemory),
                           ceiling.origin);
    }

    /// Operations are the bytes' times the intensity: a slope, up to the highest roof.
    void drawSlope(const RooflineCeiling& ceiling) {
        const double firstIntensity = std::max(x_.least(), y_.least() / ceiling.perSecond);
        const double lastIntensity = std::min(x_.most(), highestRoof() / ceiling.perSecond);
        if (lastIntensity <= firstIntensity)
            return;
        const Place from{x_.place(firstIntensity), y_.place(firstIntensity * ceiling.perSecond)};
        const Place to{x_.place(lastIntensity), y_.place(lastIntensity * ceiling.perSecond)};
        line("ceiling", from, to);
        const double degrees = std::atan2(y_.perDecade(), x_.perDecade()) * 180 / std::numbers::pi;
        // Along the slope, near its lower end, where the names of roofs are not.
        constexpr double along = 40;
        const double radians = degrees * std::numbers::pi / 180;
        Place at{from.x + along * std::cos(radians), from.y + along * std::sin(radians)};
        at.x += 6 * std::sin(radians);
        at.y -= 6 * std::cos(radians);
        write("name", at, "start", nameOf(ceiling), degrees);
    }

    void drawRoof(const RooflineCeiling& ceiling) {
        const double ridge = ceiling.perSecond / steepestSlope();
        const double y = y_.place(ceiling.perSecond);
        line("ceiling", {x_.place(std::max(ridge, x_.least())), y}, {right, y});
        // Above its line, unless another one is there.
        const bool isCrowded =
            std::ranges::any_of(plot_.ceilings, [&](const RooflineCeiling& other) {
                const double gap = y - y_.place(other.perSecond);
                return !other.isMemory && gap > 0 && gap < 1.5 * lineHeight;
            });
        write("name", {right, isCrowded ? y + lineHeight : y - 6}, "end", nameOf(ceiling));
    }

    [[nodiscard]] Place middleOf(const RooflinePoint& point) const {
        return {(x_.place(point.intensity.low) + x_.place(point.intensity.high)) / 2,
                (y_.place(point.perSecond.low) + y_.place(point.perSecond.high)) / 2};
    }

    void drawArrow(const RooflinePoint& point) {
        if (!point.before || *point.before >= plot_.points.size())
            return;
        const Place from = middleOf(plot_.points[*point.before]);
        const Place to = middleOf(point);
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        constexpr double gap = 7; // Around both points.
        if (length < 3 * gap)
            return;
        const Place along{(to.x - from.x) / length, (to.y - from.y) / length};
        const Place tip{to.x - gap * along.x, to.y - gap * along.y};
        line("arrow", {from.x + gap * along.x, from.y + gap * along.y}, tip);
        for (const double side : {-1.0, 1.0})
            line("arrow", tip,
                 {tip.x - 6 * along.x + side * 3 * along.y,
                  tip.y - 6 * along.y - side * 3 * along.x});
    }

    void drawPoint(const RooflinePoint& point) {
        const Place low{x_.place(point.intensity.low), y_.place(point.perSecond.low)};
        const Place high{x_.place(point.intensity.high), y_.place(point.perSecond.high)};
        const std::string tone(toneClass(point.tone));
        page_.open("g", {{"class", tone + (point.isModel ? " model" : "")}});
        page_.element("title", fmt::format("{}: {:.3g} to {:.3g} FLOP per byte, {} to {}",
                                           point.label, point.intensity.low, point.intensity.high,
                                           rateText(point.perSecond.low, false),
                                           rateText(point.perSecond.high, false)));
        if (point.isModel)
            line("bar", low, high);
        else
            page_.empty("circle",
                        {{"class", "point"}, {"cx", px(low.x)}, {"cy", px(low.y)}, {"r", "4.5"}});
        page_.close();
    }

    /// Beside their points, from the top down, each below the one before where they would meet.
    void drawLabels() {
        struct Label {
            Place at;
            std::string text;
            std::string kind;
            bool isLeft;
        };
        std::vector<Label> labels;
        for (const RooflinePoint& point : plot_.points) {
            Place at = middleOf(point);
            if (point.isModel) // Below its bar, which leads up.
                at.y += lineHeight;
            const std::string text = point.label + (point.isModel ? " (model)" : "");
            const bool isLeft = at.x + 10 + letterWidth * text.size() > right;
            labels.push_back({{at.x + (isLeft ? -10 : 10), at.y + 4},
                              text,
                              "label " + std::string(toneClass(point.tone)),
                              isLeft});
        }
        std::ranges::stable_sort(labels, {}, [](const Label& label) { return label.at.y; });
        for (std::size_t i = 0; i < labels.size(); ++i) {
            for (std::size_t above = 0; above < i; ++above) {
                const bool meets =
                    std::abs(labels[i].at.x - labels[above].at.x) <
                        letterWidth * std::max(labels[i].text.size(), labels[above].text.size()) &&
                    labels[i].at.y < labels[above].at.y + lineHeight;
                if (meets)
                    labels[i].at.y = labels[above].at.y + lineHeight;
            }
            write(labels[i].kind, labels[i].at, labels[i].isLeft ? "end" : "start", labels[i].text);
        }
    }

    HtmlWriter& page_;
    const RooflinePlot& plot_;
    LogAxis x_;
    LogAxis y_;
};

bool isDrawable(const RooflinePoint& point) {
    return point.intensity.low > 0 && point.intensity.high >= point.intensity.low &&
           point.perSecond.low > 0 && point.perSecond.high >= point.perSecond.low;
}

} // namespace

std::string rateText(double perSecond, bool isMemory) {
    const char* unit = isMemory ? "B/s" : "FLOP/s";
    if (perSecond >= 1e12)
        return fmt::format("{:.3g} T{}", perSecond / 1e12, unit);
    if (perSecond >= 1e9)
        return fmt::format("{:.3g} G{}", perSecond / 1e9, unit);
    return fmt::format("{:.3g} M{}", perSecond / 1e6, unit);
}

void drawRoofline(HtmlWriter& page, const RooflinePlot& plot) {
    double memory = 0;
    double minMemory = std::numeric_limits<double>::max();
    double arithmetic = 0;
    for (const RooflineCeiling& ceiling : plot.ceilings) {
        if (ceiling.perSecond <= 0)
            return;
        if (ceiling.isMemory) {
            memory = std::max(memory, ceiling.perSecond);
            minMemory = std::min(minMemory, ceiling.perSecond);
        } else {
            arithmetic = std::max(arithmetic, ceiling.perSecond);
        }
    }
    if (memory <= 0 || arithmetic <= 0 || !std::ranges::all_of(plot.points, isDrawable))
        return;
    // Both ridges with some of the slope and of the roof beside them.
    engine::Interval intensities{0.1 * arithmetic / memory, 20 * arithmetic / minMemory};
    engine::Interval rates{0.02 * arithmetic, arithmetic};
    for (const RooflinePoint& point : plot.points) {
        intensities = {std::min(intensities.low, point.intensity.low),
                       std::max(intensities.high, point.intensity.high)};
        rates = {std::min(rates.low, point.perSecond.low),
                 std::max(rates.high, point.perSecond.high)};
    }
    Drawing(page, plot, intensities, rates).draw();
}

} // namespace kernelskill::lsp
