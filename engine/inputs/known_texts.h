/// Parts of a launch's text whose values are known because such a launch was seen.
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

    /// `text` with each part that is known replaced by its number. An operator that binds a part's
    /// operands tighter than the part's own keeps it as it is: of `n + 1`, `2 * n + 1` has none.
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
