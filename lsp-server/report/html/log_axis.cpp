#include "lsp-server/report/html/log_axis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

namespace kernelskill::lsp {
namespace {

/// Part of a decade between the outermost value and the end of the axis.
constexpr double room = 0.15;

} // namespace

LogAxis::LogAxis(double least, double most, double first, double last)
    : firstDecade_(static_cast<int>(std::floor(std::log10(least) - room))),
      lastDecade_(std::max(static_cast<int>(std::ceil(std::log10(most) + room)), firstDecade_ + 1)),
      first_(first), last_(last) {}

double LogAxis::place(double value) const {
    return first_ + (std::log10(value) - firstDecade_) * perDecade();
}

double LogAxis::least() const {
    return std::pow(10.0, firstDecade_);
}

double LogAxis::most() const {
    return std::pow(10.0, lastDecade_);
}

double LogAxis::perDecade() const {
    return (last_ - first_) / (lastDecade_ - firstDecade_);
}

std::vector<LogAxis::Tick> LogAxis::ticks() const {
    std::vector<Tick> ticks;
    for (int decade = firstDecade_; decade <= lastDecade_; ++decade) {
        const double value = std::pow(10.0, decade);
        ticks.push_back({value, true});
        for (int step = 2; step < 10 && decade < lastDecade_; ++step)
            ticks.push_back({step * value, false});
    }
    return ticks;
}

std::string decadeText(double value) {
    if (value < 1)
        return fmt::format("{:g}", value);
    for (const auto& [size, name] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}}) {
        if (value >= size * 0.999)
            return fmt::format("{:g}{}", value / size, name);
    }
    return fmt::format("{:g}", value);
}

} // namespace kernelskill::lsp
