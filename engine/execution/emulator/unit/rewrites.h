/// Rewrites device code that a host compiler refuses: dynamic shared memory, `static __shared__`,
/// inline PTX, launches from device code.
#pragma once

#include "analysis/scan/macros.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Collects the macros that rewritten texts use. Their definitions precede every text.
class RewriteMacros {
public:
    /// The name of a macro with this parameter list ("(a0,a1)") and body. Equal macros share one
    /// name.
    std::string define(const std::string& parameters, const std::string& body);
    [[nodiscard]] const std::string& definitions() const { return definitions_; }

private:
    std::string definitions_;
    std::vector<std::string> bodies_;
};

/// Rewrites `text`, the blanked text of `path`. Lines stay; columns change only after a rewritten
/// place. Unsupported code becomes a call of ks_refuse("<feature>@<path>:<one-based line>").
[[nodiscard]] std::string rewriteForHost(std::string text, const std::string& path,
                                         const analysis::MacroTable& macros,
                                         RewriteMacros& rewrites);

} // namespace kernelskill::engine
