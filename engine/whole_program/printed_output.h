/// Whether an edited program prints what the original prints.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Numbers with a fraction or an exponent may differ by this part, since edits may sum in another
/// order.
inline constexpr double printedTolerance = 1e-3;

/// The original's output, over several of its runs. A line that differs between two of them, such
/// as a time, is not compared; if the number of lines differs, nothing is. Nor is the amount of
/// white space in a line.
class PrintedOutput {
public:
    explicit PrintedOutput(std::string_view output);
    /// Adds another run of the original.
    void add(std::string_view output);

    /// False if runs of the original have nothing in common that could be compared.
    [[nodiscard]] bool isComparable() const;
    /// "2 of 10 lines differ between runs of the original and are not compared"; empty if all lines
    /// are.
    [[nodiscard]] std::string note() const;
    /// "line 3 is 'sum 4' instead of 'sum 5'"; nullopt if the output agrees or is not comparable.
    [[nodiscard]] std::optional<std::string> differenceTo(std::string_view output) const;

private:
    std::vector<std::string> lines_;
    std::vector<bool> isStable_; ///< Whether each line is the same in all runs.
    bool hasEqualLength_ = true; ///< Whether all runs have as many lines.
};

} // namespace kernelskill::engine
