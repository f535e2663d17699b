/// Replaces parts of a launch's text by the numbers that they had in a launch that was seen.
#pragma once

#include "engine/execution/job.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

class KnownTexts {
public:
    /// `text`, a grid or a block as a launch states it, had these extents: `blocks`, `dim3(a, b)`,
    /// `(n + 255) / 256`.
    void addExtents(std::string_view text, const Dim3& extents);

    /// `text` with each known part replaced by its number. Operators around a part can take it
    /// apart, and then the text keeps it: `2 * n + 1` does not hold the part `n + 1`.
    [[nodiscard]] std::string numbersIn(std::string_view text) const;

private:
    /// How tight the loosest operator of a part binds.
    enum class Binding : std::uint8_t { Sum, Product, Operand, Never };
    struct Part {
        std::vector<std::string> tokens;
        std::string number;
        Binding binding = Binding::Operand;
    };

    void add(std::string_view text, std::uint32_t value);
    [[nodiscard]] static Binding bindingOf(const std::vector<std::string>& tokens);
    [[nodiscard]] static bool stands(const Part& part, std::string_view before,
                                     std::string_view behind);

    std::vector<Part> parts_; ///< The longest first.
};

} // namespace kernelskill::engine
