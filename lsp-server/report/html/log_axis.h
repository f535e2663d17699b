/// A logarithmic axis of a plot.
#pragma once

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// From values to places, in whole decades.
class LogAxis {
public:
    /// Holds everything from `least` to `most`, both above 0, with some room at the ends. `first`
    /// and `last` are the places of the ends; `last` may be the smaller one.
    LogAxis(double least, double most, double first, double last);

    [[nodiscard]] double place(double value) const;
    [[nodiscard]] double least() const;
    [[nodiscard]] double most() const;
    /// Places for each factor of ten.
    [[nodiscard]] double perDecade() const;

    struct Tick {
        double value = 0;
        bool isDecade = false; ///< Else one of the 2 to 9 between.
    };
    [[nodiscard]] std::vector<Tick> ticks() const;

private:
    int firstDecade_;
    int lastDecade_;
    double first_;
    double last_;
};

/// "0.01", "1", "1 k", "10 M": a power of ten that an axis names.
[[nodiscard]] std::string decadeText(double value);

} // namespace kernelskill::lsp
