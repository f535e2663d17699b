/// What a host compiler cannot take in device code, said so that it can: dynamic shared memory,
/// `static __shared__`, inline PTX, launches from device code.
#pragma once

#include "analysis/scan/macros.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Collects the macros that rewritten texts use; their definitions go in front of every text.
class RewriteMacros {
public:
    /// Name of a macro with this parameter list ("(a0,a1)") and body; equal ones are shared.
    std::string define(const std::string& parameters, const std::string& body);
    [[nodiscard]] const std::string& definitions() const { return definitions_; }

private:
    std::string definitions_;
    std::vector<std::string> bodies_;
};

/// Rewrites `text`, a blanked text of `path`. Lines stay where they are; columns move only behind a
/// rewritten place. What cannot be run becomes a call of ks_refuse("<feature>@<path>:<one-based
/// line>").
[[nodiscard]] std::string rewriteForHost(std::string text, const std::string& path,
                                         const analysis::MacroTable& macros,
                                         RewriteMacros& rewrites);

} // namespace kernelskill::engine
