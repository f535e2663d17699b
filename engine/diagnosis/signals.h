/// The quantities that the rule table compares, taken from the source or from a profile.
#pragma once

#include "analysis/features/features.h"
#include "analysis/source/source_text.h"
#include "engine/execution/profile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The GPU that counts are put in relation to when none is at hand. See thresholds.yaml.
struct Machine {
    std::string name;
    double operationsPerSecond = 0;
    double bytesPerSecond = 0;
    double multiprocessors = 0;
    double warpsPerMultiprocessor = 0;
    double blocksPerMultiprocessor = 0;
    double sharedBytesPerMultiprocessor = 0;
    double sharedBytesReservedPerBlock = 0;
};

/// One value at one place, or of the whole kernel when there is no line.
struct Signal {
    std::string name;
    double value = 0;
    double share = 1;                      ///< Part of the kernel's total of this quantity.
    std::map<std::string, double> numbers; ///< Facts for the sentence.
    std::map<std::string, std::string> words;
    std::string file;
    std::optional<std::uint32_t> line; ///< Zero-based.
};

/// From the text. `source` gives the lines; without it signals have none.
[[nodiscard]] std::vector<Signal> staticSignals(const analysis::KernelModel& kernel,
                                                const analysis::Features& features,
                                                const analysis::SourceText* source);

/// From the counters of a run. A metric the executor does not count yields no signal.
[[nodiscard]] std::vector<Signal> profileSignals(const analysis::KernelModel& kernel,
                                                 const analysis::Features& features,
                                                 const Profile& profile, const Machine& machine,
                                                 const analysis::SourceText* source);

/// The names that staticSignals (false) or profileSignals (true) can yield: what a rule may refer
/// to.
[[nodiscard]] std::vector<std::string_view> signalNames(bool ofProfile);

} // namespace kernelskill::engine
