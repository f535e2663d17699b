/// A verification as JSON and as words: of the command line, the editor's command and agents.
#pragma once

#include "engine/verification/verification.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// {file, against, commit, outcome, summary, kernels: [{name, line, change, oldName, differs,
/// outcome, verdict, diagnosis, note, hazards, seconds}], unchanged, host: {outcome, detail}, diff,
/// seconds}. `line` is zero-based, and null for a removed kernel; `verdict`, `diagnosis` and `host`
/// may be null. `after` is the new version.
[[nodiscard]] nlohmann::json verificationJson(const engine::Verification& verification,
                                              const engine::ProgramSource& after,
                                              const std::string& against,
                                              const std::string& commit);

/// "its text, its launch"; of a renamed kernel also the old name.
[[nodiscard]] std::string differencesOf(const engine::KernelChange& change);

/// The judgement of a kernel in one paragraph, for a notice.
[[nodiscard]] std::string describe(const engine::JudgedKernel& kernel);

/// All of it in a few sentences: "Verified against HEAD (1a2b3c4) in 3.1 s: saxpy is right ..."
[[nodiscard]] std::string verificationNotice(const engine::Verification& verification,
                                             const std::string& against);

/// "right", "wrong", "not judged"
[[nodiscard]] std::string_view wordFor(engine::ChangeOutcome outcome);

} // namespace kernelskill::lsp
