#include "lsp-server/features/diagnostics.h"

#include "analysis/compile/launch_registers.h"
#include "engine/inputs/launch_inference.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/hazard_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iterator>

namespace kernelskill::lsp {

namespace {

DiagnosticSeverity toProtocol(analysis::Severity severity) {
    switch (severity) {
    case analysis::Severity::Error:
        return DiagnosticSeverity::Error;
    case analysis::Severity::Warning:
        return DiagnosticSeverity::Warning;
    case analysis::Severity::Information:
        return DiagnosticSeverity::Information;
    case analysis::Severity::Hint:
        break;
    }
    return DiagnosticSeverity::Hint;
}

/// clang's reference has a section for each warning option, and ours for each other code.
std::string linkFor(const analysis::Diagnostic& diagnostic) {
    const std::string& code = diagnostic.code;
    if (!code.starts_with("-W"))
        return diagnostic.origin == analysis::DiagnosticOrigin::Compiler || code.empty()
                   ? ""
                   : "https://github.com/kernelskill/kernelskill/blob/main/docs/findings.md#" +
                         code;
    std::string anchor = code.substr(1);
    std::ranges::transform(anchor, anchor.begin(), [](unsigned char c) { return std::tolower(c); });
    return "https://clang.llvm.org/docs/DiagnosticsReference.html#" + anchor;
}

/// The #include line that names `file`; the first line when there is none.
analysis::Span includeOf(const std::string& file, const analysis::SourceText& source) {
    const std::string name = std::filesystem::path(file).filename().string();
    for (std::uint32_t line = 0; line < source.lineCount(); ++line) {
        const std::string_view text = source.line(line);
        if (text.find("#include") != std::string_view::npos &&
            text.find(name) != std::string_view::npos)
            return source.lineSpan(line);
    }
    return source.lineSpan(0);
}

/// An empty range is hard to see: widened to the word or character there.
analysis::Span visible(analysis::Span span, const analysis::SourceText& source) {
    if (!span.empty())
        return span;
    const analysis::Span line = source.lineSpan(source.lineColumn(span.begin).line);
    const auto isWord = [&](std::uint32_t offset) {
        const auto c = static_cast<unsigned char>(source.text()[offset]);
        return std::isalnum(c) != 0 || c == '_';
    };
    span.end = span.begin;
    while (span.end < line.end && isWord(span.end))
        ++span.end;
    if (span.empty() && span.end < line.end)
        ++span.end;
    return span;
}

analysis::Diagnostic wasteAt(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                             const analysis::AccessFeatures& features, const AccessCost& cost) {
    analysis::Diagnostic diagnostic;
    diagnostic.file = snapshot.model().file;
    diagnostic.span = kernel.body.expr(kernel.accesses.at(features.access).expression).span;
    diagnostic.severity = analysis::Severity::Information;
    diagnostic.origin = analysis::DiagnosticOrigin::Waste;
    diagnostic.code = cost.isShared ? "bank-conflicts" : "uncoalesced-access";
    diagnostic.message = fmt::format("{}; {} would do. {}", shortLabel(cost),
                                     formatNumber(cost.minimum), features.explanation);
    return diagnostic;
}

std::string describeOther(const engine::Hazard& hazard) {
    const char* side =
        hazard.kind == engine::HazardKind::Race ? "the other access" : "the other barrier";
    if (!hazard.details.other)
        return side;
    const auto& [block, thread] = *hazard.details.other;
    return fmt::format("{}: thread ({},{},{}) of block ({},{},{})", side, thread.x, thread.y,
                       thread.z, block.x, block.y, block.z);
}

/// The parameter or shared array that a hazard is about; nullptr when the kernel has none of the
/// name.
const analysis::Variable* objectOf(const analysis::KernelModel& kernel,
                                   const engine::Hazard& hazard) {
    const auto named = std::ranges::find_if(kernel.body.variables, [&](const auto& variable) {
        return variable.name == hazard.details.object && !variable.span.empty() &&
               (variable.storage == analysis::Storage::Parameter ||
                variable.storage == analysis::Storage::Shared);
    });
    return hazard.details.object.empty() || named == kernel.body.variables.end() ? nullptr
                                                                                 : &*named;
}

} // namespace

std::vector<Diagnostic> toProtocol(const std::vector<analysis::Diagnostic>& diagnostics,
                                   const std::string& file, const analysis::SourceText& source,
                                   TextLookup& texts, const ClientCapabilities& capabilities) {
    const PositionEncoding encoding = capabilities.positionEncoding;
    std::vector<Diagnostic> result;
    for (const analysis::Diagnostic& diagnostic : diagnostics) {
        Diagnostic& shown = result.emplace_back();
        shown.severity = toProtocol(diagnostic.severity);
        shown.code = diagnostic.code;
        shown.message = diagnostic.message;
        if (capabilities.diagnosticCodeDescription)
            shown.codeDescription = linkFor(diagnostic);
        if (diagnostic.file == file || diagnostic.file.empty()) {
            shown.range = toRange(source, visible(diagnostic.span, source), encoding);
        } else {
            const analysis::SourceText& other = texts(diagnostic.file);
            const std::uint32_t line = other.lineColumn(diagnostic.span.begin).line;
            shown.range = toRange(source, includeOf(diagnostic.file, source), encoding);
            shown.message = fmt::format("in {}:{}: {}",
                                        std::filesystem::path(diagnostic.file).filename().string(),
                                        line + 1, diagnostic.message);
            if (capabilities.diagnosticRelatedInformation)
                shown.relatedInformation.push_back({uriFromPath(diagnostic.file),
                                                    toRange(other, diagnostic.span, encoding),
                                                    diagnostic.message});
        }
        if (!capabilities.diagnosticRelatedInformation)
            continue;
        for (const analysis::RelatedPlace& place : diagnostic.related) {
            const analysis::SourceText& text = place.file == file ? source : texts(place.file);
            shown.relatedInformation.push_back(
                {uriFromPath(place.file), toRange(text, place.span, encoding), place.message});
        }
    }
    return result;
}

analysis::Diagnostic hazardDiagnostic(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                                      const engine::Hazard& hazard, TextLookup& texts) {
    const auto lineSpan = [&](const std::string& file, std::uint32_t line) {
        const analysis::SourceText& text = texts(file);
        analysis::Span span = text.lineSpan(line);
        span.begin += static_cast<std::uint32_t>(text.indentationAt(span.begin).size());
        return span;
    };
    analysis::Diagnostic diagnostic;
    diagnostic.file = hazard.file.empty() ? snapshot.model().file : hazard.file;
    diagnostic.span = lineSpan(diagnostic.file, hazard.line);
    const auto profile = snapshot.workbench->knowledge().cachedProfile({snapshot.program, kernel});
    const engine::LaunchSpec launch = profile ? profile->launch : engine::LaunchSpec{};
    diagnostic.severity =
        isSureOf(hazard, launch) ? analysis::Severity::Error : analysis::Severity::Information;
    diagnostic.origin = analysis::DiagnosticOrigin::Hazard;
    diagnostic.code = spelling(hazard.kind);
    diagnostic.message = hazard.message;
    if (mayBeTheGuess(hazard, launch))
        diagnostic.message += " (may be the guess: pin the launch that the program makes)";
    if (!hazard.otherFile.empty()) {
        diagnostic.related.push_back({hazard.otherFile,
                                      lineSpan(hazard.otherFile, hazard.otherLine),
                                      describeOther(hazard)});
    } else if (const analysis::Variable* object = objectOf(kernel, hazard)) {
        diagnostic.related.push_back(
            {kernel.file, object->span, fmt::format("'{}' is declared here", object->name)});
    }
    return diagnostic;
}

std::vector<analysis::Diagnostic> hazardDiagnostics(const Snapshot& snapshot) {
    std::vector<analysis::Diagnostic> diagnostics;
    TextLookup texts(snapshot.program);
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        const auto profile =
            snapshot.workbench->knowledge().cachedProfile({snapshot.program, kernel});
        if (!profile)
            continue;
        for (const engine::Hazard& hazard : profile->hazards)
            diagnostics.push_back(hazardDiagnostic(snapshot, kernel, hazard, texts));
    }
    return diagnostics;
}

std::vector<analysis::Diagnostic> launchDiagnostics(const Snapshot& snapshot) {
    std::vector<analysis::Diagnostic> diagnostics;
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        const auto report =
            snapshot.workbench->knowledge().cachedReport({snapshot.program, kernel});
        if (!report || !report->facts || !*report->facts || !snapshot.isListed(kernel))
            continue;
        const engine::StaticFacts& facts = **report->facts;
        std::ranges::move(analysis::launchRegisterFindings(snapshot.model(), kernel,
                                                           facts.architecture, facts.registers),
                          std::back_inserter(diagnostics));
    }
    return diagnostics;
}

std::vector<analysis::Diagnostic> pinDiagnostics(const Snapshot& snapshot) {
    std::vector<analysis::Diagnostic> diagnostics;
    for (const Error& error : engine::findLaunchPins(snapshot.model()).errors) {
        analysis::Diagnostic& diagnostic = diagnostics.emplace_back();
        diagnostic.file = snapshot.model().file;
        const auto colon = error.where.rfind(':'); // "file:line", counted from 1.
        std::uint32_t line = 1;
        if (colon != std::string::npos)
            std::from_chars(error.where.data() + colon + 1, error.where.data() + error.where.size(),
                            line);
        diagnostic.span = snapshot.source().lineSpan(std::max(line, 1u) - 1);
        diagnostic.severity = analysis::Severity::Warning;
        diagnostic.origin = analysis::DiagnosticOrigin::Notice;
        diagnostic.code = "launch-pin";
        diagnostic.message = error.what;
        if (!error.remedy.empty())
            diagnostic.message += "; " + error.remedy;
    }
    return diagnostics;
}

std::vector<Waste> wasteOf(const Snapshot& snapshot, const analysis::KernelModel& kernel) {
    std::vector<Waste> waste;
    if (!snapshot.isInMainFile(kernel) || kernel.fromMacro)
        return waste;
    const auto features = snapshot.workbench->knowledge().features({snapshot.program, kernel});
    for (const analysis::AccessFeatures& access : features->accesses) {
        const auto cost = accessCost(kernel, access);
        if (cost && cost->isWasteful())
            waste.push_back(
                {&kernel.accesses.at(access.access), wasteAt(snapshot, kernel, access, *cost)});
    }
    return waste;
}

std::vector<analysis::Diagnostic> wasteDiagnostics(const Snapshot& snapshot) {
    std::vector<analysis::Diagnostic> diagnostics;
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        for (Waste& waste : wasteOf(snapshot, kernel))
            diagnostics.push_back(std::move(waste.diagnostic));
    }
    return diagnostics;
}

} // namespace kernelskill::lsp
