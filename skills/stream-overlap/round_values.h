/// The values of host expressions in a loop, in one of its rounds.
#pragma once

#include "analysis/model/integer_values.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_intervals.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

/// A place in the memory that a variable leads to.
struct PlaceInMemory {
    analysis::VariableId root = analysis::noId;
    std::int64_t offset = 0; ///< In bytes.
};

/// Evaluates expressions that follow from constants, from locals that never change and from the
/// loop's counter.
class RoundValues : public analysis::IntegerValues {
public:
    /// Where the loop's counter has that value. Keeps the reference.
    RoundValues(const analysis::CodeMap& code, analysis::VariableId counter, std::int64_t value)
        : IntegerValues(code.body()), code_(code), counter_(counter), value_(value) {}

    /// The place that a pointer leads to: a variable and a number of elements, or the address of an
    /// element.
    [[nodiscard]] std::optional<PlaceInMemory> place(analysis::ExprId expr) const;
    [[nodiscard]] std::optional<analysis::LaunchNumbers>
    launch(const analysis::LaunchSite& site) const;

private:
    [[nodiscard]] std::optional<std::int64_t> leaf(const analysis::Expr& expr,
                                                   int depth) const override;
    [[nodiscard]] std::optional<PlaceInMemory> place(analysis::ExprId expr, int depth) const;
    /// `pointer op index`
    [[nodiscard]] std::optional<PlaceInMemory>
    stepped(analysis::ExprId pointer, std::string_view op, analysis::ExprId index, int depth) const;
    /// The value of a local that is never given another; noId for other variables.
    [[nodiscard]] analysis::ExprId fixedValue(analysis::VariableId variable) const override;

    const analysis::CodeMap& code_;
    analysis::VariableId counter_;
    std::int64_t value_;
};

} // namespace kernelskill::skills
