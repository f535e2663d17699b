/// The JSON of the command line and of the custom requests. Lines are zero-based.
#pragma once

#include "engine/memory/short_term_memory.h"
#include "engine/planning/plan.h"
#include "engine/repair/repairer.h"
#include "engine/verdict/verdict.h"
#include "engine/workbench/hazard_repair.h"
#include "engine/workbench/workbench.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace kernelskill::lsp {

/// {kind, headroom, gain: {at_most, basis, text}, evidence: [{text, file, line, hint}],
/// rule, others, shapes}; gain is null where it is not known
[[nodiscard]] nlohmann::json bottleneckJson(const engine::Bottleneck& bottleneck);

/// {kernel, executor, launch, metrics, lines, hazards, bottleneck, static, roofline}
[[nodiscard]] nlohmann::json profileJson(const engine::KernelReport& report);

/// {status, checks: [{name, passed, detail}], speedup, summary, before, after}
[[nodiscard]] nlohmann::json verdictJson(const engine::Verdict& verdict);

/// [{range, newText}], with `file` where it is not the main file.
[[nodiscard]] nlohmann::json editsJson(const analysis::EditSet& edits, const std::string& mainFile,
                                       TextLookup& texts, PositionEncoding encoding);

/// {id, title, kind, numerics, bottlenecks, description, origin}
[[nodiscard]] nlohmann::json skillJson(const skills::SkillMetadata& skill);

/// [{kind, time, kernel, kernelHash, skill, option, editHash, status, detail}], and of a verdict,
/// where it was noted, {resultHash, architecture, speedup, kept, diagnosis}
[[nodiscard]] nlohmann::json memoryJson(const std::vector<engine::MemoryEntry>& entries);

/// {cause, explanation, message, range}
[[nodiscard]] nlohmann::json failureJson(const engine::CompileFailure& failure, TextLookup& texts,
                                         PositionEncoding encoding);

/// {kind, certain, file, line, block, thread, message}, with `other`: {file, line, block, thread}
/// where there is another side.
/// `{method, text, why}`, with `skill` where the method is a skill that does not fit.
[[nodiscard]] nlohmann::json remedyJson(const engine::Remedy& remedy);
[[nodiscard]] nlohmann::json hazardJson(const engine::Hazard& hazard);

/// {status, diagnosis, edits}; status is "clean", "repaired", "improved" or "not-repaired".
[[nodiscard]] nlohmann::json repairJson(const engine::Repair& repair, const std::string& mainFile,
                                        TextLookup& texts, PositionEncoding encoding);
[[nodiscard]] std::string_view statusOf(const engine::Repair& repair);
/// The same for a file that compiles: its hazards.
[[nodiscard]] nlohmann::json repairJson(const engine::HazardRepair& repair,
                                        const std::string& mainFile, TextLookup& texts,
                                        PositionEncoding encoding);
[[nodiscard]] std::string_view statusOf(const engine::HazardRepair& repair);

/// {error: {kind, what, where, remedy}}
[[nodiscard]] nlohmann::json errorJson(const Error& error);

} // namespace kernelskill::lsp
