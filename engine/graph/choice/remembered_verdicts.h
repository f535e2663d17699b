/// The verdicts on mixes of a program's variants, from this run or an earlier one.
#pragma once

#include "engine/graph/choice/variant_racer.h"

#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Names all that a program computes, for the long-term memory: its operators, shapes and
/// constants, and the tensors that its archive holds, of large ones some of the bytes.
[[nodiscard]] std::string programKey(const Program& program);

class RememberedVerdicts {
public:
    /// `subject` names all that verdicts depend on beside the mix: the program, the machine and
    /// whether libraries may use TF32. `racer` and `memory` outlive it.
    RememberedVerdicts(std::string subject, VariantRacer& racer, const TimesMemory& memory,
                       std::stop_token stop)
        : subject_(std::move(subject)), racer_(racer), memory_(memory), stop_(std::move(stop)) {}

    /// One verdict for each mix. What could not be compared says why.
    [[nodiscard]] std::vector<MixVerdict> of(const std::vector<VariantMix>& mixes);

    /// Whether all of the last verdicts are from an earlier run.
    [[nodiscard]] bool areRemembered() const { return areRemembered_; }

private:
    [[nodiscard]] std::string keyOf(const VariantMix& mix) const;

    std::string subject_;
    VariantRacer& racer_;
    const TimesMemory& memory_;
    std::stop_token stop_;
    std::map<std::string, MixVerdict> judged_; ///< This run's verdicts by their keys.
    std::map<std::string, MixVerdict> known_;  ///< An earlier run's verdicts.
    bool areRemembered_ = false;
};

} // namespace kernelskill::engine::graph
