/// Host code evaluated at sample numbers in the place of unknown ones.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// Numbers of elements: fewer than a block has threads, whole blocks, one more and one less.
inline constexpr std::array<std::int64_t, 14> samples{1,   2,   15,  31,  32,   33,   100,
                                                      255, 256, 257, 511, 1000, 4096, 99'999};

/// Evaluates expressions. Each name whose value does not follow from the code has one of its own,
/// near the sample.
class SampledValues : public analysis::FixedValues {
public:
    SampledValues(const SkillContext& context, const analysis::CodeMap& host)
        : FixedValues(host), context_(context) {}
    void setSample(std::int64_t sample) { sample_ = sample; }

    /// Evaluates a bound of the kernel at a launch; nullopt if it depends on more than the launch's
    /// arguments.
    [[nodiscard]] std::optional<std::int64_t> limit(const analysis::IndexExpression& limit,
                                                    const analysis::LaunchSite& launch) const;

private:
    [[nodiscard]] std::optional<std::int64_t> leaf(const analysis::Expr& expr,
                                                   int depth) const override;

    const SkillContext& context_;
    std::int64_t sample_ = 1;
};

} // namespace kernelskill::skills
