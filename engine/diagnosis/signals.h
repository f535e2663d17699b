/// The quantities that the rule table compares, by where they are from.
#pragma once

#include "engine/diagnosis/bottleneck.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Where a signal is from; the later of two that speak of one kind of bottleneck is worth more.
enum class SignalBasis : std::uint8_t {
    Static,   ///< The text.
    Compiler, ///< The GPU's compiler.
    Profile,  ///< Counters of a run, put in relation to a GPU.
    Measured, ///< What a profiler saw on a GPU: percents of its peaks, stalls, time.
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

[[nodiscard]] std::vector<Signal> staticSignals(const DiagnosisInput& input);
/// Empty without facts.
[[nodiscard]] std::vector<Signal> compilerSignals(const DiagnosisInput& input);
/// Empty without a profile. A metric the executor does not count yields no signal.
[[nodiscard]] std::vector<Signal> profileSignals(const DiagnosisInput& input);
/// The launch and the same counters in relation to the GPU: occupancy, intensity, launches.
/// `launchSeconds`: what a launch takes by itself.
[[nodiscard]] std::vector<Signal> machineSignals(const DiagnosisInput& input, double launchSeconds);
/// Empty without a profile of a GPU.
[[nodiscard]] std::vector<Signal> measuredSignals(const DiagnosisInput& input);

/// The names that signals of a basis may have: what a rule may refer to.
[[nodiscard]] std::vector<std::string_view> signalNames(SignalBasis basis);

} // namespace kernelskill::engine
