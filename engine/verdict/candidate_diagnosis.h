/// Why an edit was not kept, as plain data.
#pragma once

#include <string>
#include <vector>

namespace kernelskill::engine {

struct CandidateDiagnosis {
    /// Stable: "missing-barrier", "tail", "does-not-compile", "occupancy", ... docs/optimize.md
    /// lists them.
    std::string cause;
    std::string sentence;              ///< What happened, without a full stop.
    std::vector<std::string> evidence; ///< What was seen, strongest first.
    std::string invariant; ///< That the edit broke, as a statement about kernels; may be empty.
    std::string repair;    ///< The smallest one that may do, not tried; empty: nobody knows one.
    bool operator==(const CandidateDiagnosis&) const = default;
};

} // namespace kernelskill::engine
