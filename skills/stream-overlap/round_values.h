/// The values of host expressions of a loop in one of its rounds.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_intervals.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

/// A place in the memory that a variable leads to.
struct PlaceInMemory {
    analysis::VariableId root = analysis::noId;
    std::int64_t offset = 0; ///< In bytes.
};

class RoundValues {
public:
    /// Where the loop's counter has that value. Keeps the reference.
    RoundValues(const analysis::CodeMap& code, analysis::VariableId counter, std::int64_t value)
        : code_(code), counter_(counter), value_(value) {}

    /// The value of an integral expression that follows from constants, from locals that never
    /// change and from the counter; nullopt for others, and where it may not fit its type.
    [[nodiscard]] std::optional<std::int64_t> number(analysis::ExprId expr) const;
    /// The value of a pointer that is a variable and so many elements, or the address of an
    /// element.
    [[nodiscard]] std::optional<PlaceInMemory> place(analysis::ExprId expr) const;
    /// The extents of a grid or a block: an integer, or a dim3 that is made of integers.
    [[nodiscard]] std::optional<std::array<std::int64_t, 3>> extents(analysis::ExprId expr) const;
    [[nodiscard]] std::optional<analysis::LaunchNumbers>
    launch(const analysis::LaunchSite& site) const;

private:
    [[nodiscard]] std::optional<std::int64_t> result(const analysis::Expr& expr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> number(analysis::ExprId expr, int depth) const;
    [[nodiscard]] std::optional<PlaceInMemory> place(analysis::ExprId expr, int depth) const;
    /// `pointer op index`
    [[nodiscard]] std::optional<PlaceInMemory>
    stepped(analysis::ExprId pointer, std::string_view op, analysis::ExprId index, int depth) const;
    /// The value of a local that is never given another; noId for other variables.
    [[nodiscard]] analysis::ExprId fixedValue(analysis::VariableId variable) const;

    const analysis::CodeMap& code_;
    analysis::VariableId counter_;
    std::int64_t value_;
};

} // namespace kernelskill::skills
