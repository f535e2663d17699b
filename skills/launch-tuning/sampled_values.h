/// Host code at numbers that stand for what it does not tell.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// Numbers of elements: fewer than blocks have threads, whole blocks, one more and one less.
inline constexpr std::array<std::int64_t, 14> samples{1,   2,   15,  31,  32,   33,   100,
                                                      255, 256, 257, 511, 1000, 4096, 99'999};

/// The values of expressions with a number in the place of each name that the code does not fix;
/// near the sample, another for each name.
class SampledValues : public analysis::FixedValues {
public:
    SampledValues(const SkillContext& context, const analysis::CodeMap& host)
        : FixedValues(host), context_(context) {}
    void take(std::int64_t sample) { sample_ = sample; }

    /// Of a number that a kernel compares with, at a launch; nullopt if it is made of more than the
    /// kernel's arguments.
    [[nodiscard]] std::optional<std::int64_t> limit(const analysis::IndexExpression& limit,
                                                    const analysis::LaunchSite& launch) const;

private:
    [[nodiscard]] std::optional<std::int64_t> leaf(const analysis::Expr& expr,
                                                   int depth) const override;

    const SkillContext& context_;
    std::int64_t sample_ = 1;
};

} // namespace kernelskill::skills
