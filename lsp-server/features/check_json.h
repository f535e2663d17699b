/// The answer of `check` as JSON: diagnostics of a file, and for each kernel its bottleneck and the
/// skills that fit. Nothing is run.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/documents/text_lookup.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

/// Places of a snapshot's files, and texts at them. One thread.
class CheckedTexts {
public:
    /// `snapshot` outlives it.
    explicit CheckedTexts(const Snapshot& snapshot)
        : snapshot_(snapshot), texts_(snapshot.program) {}

    /// The text of the main file if `file` is empty.
    [[nodiscard]] const analysis::SourceText& textOf(const std::string& file) {
        return file.empty() ? snapshot_.source() : texts_(file);
    }
    [[nodiscard]] std::uint32_t lineOf(const std::string& file, std::uint32_t offset) {
        return textOf(file).lineColumn(offset).line;
    }
    /// An expression as it is written; empty for noId.
    [[nodiscard]] std::string sourceOf(const analysis::HostFunction& host,
                                       analysis::ExprId expression) {
        if (expression == analysis::noId)
            return {};
        return std::string(textOf(host.file).slice(host.body.expr(expression).span));
    }

private:
    const Snapshot& snapshot_;
    TextLookup texts_;
};

/// "error", "warning", "information", "hint"
[[nodiscard]] std::string_view spelling(analysis::Severity severity);

/// The diagnostics of the parser, of pins and of provable waste.
[[nodiscard]] std::vector<analysis::Diagnostic> checkDiagnostics(const Snapshot& snapshot);

/// The plan for a kernel of the main file; an empty one for others.
[[nodiscard]] engine::Plan listedPlan(const Snapshot& snapshot,
                                      const analysis::KernelModel& kernel);

/// {file, diagnostics, kernels: [{name, line, launches, features, bottleneck, skills, remedies,
/// ruled_out}]}; `read_through` where the file is read as a part of another one.
[[nodiscard]] nlohmann::json checkJson(const Snapshot& snapshot, const std::string& shownName);

} // namespace kernelskill::lsp
