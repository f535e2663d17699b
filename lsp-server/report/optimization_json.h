/// An optimisation as JSON: `optimize --json` and the editor's command.
#pragma once

#include "engine/optimization/optimization.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kernelskill::lsp {

/// {kernel, executor, seed, rounds, base, best, diff, stop, ruled_out}. `rounds` holds an entry for
/// each plan, {round, number, from, bottleneck, plan: {skill, option, title, why, expected,
/// ruled_out}, verdict, sum, remembered, kept, version, decision, model, diff}; several plans of
/// one round have its number. `best` is {improved, speedup, skills, verdict, model, edits}; speedup
/// is null where nothing was measured. `texts` are the original's.
[[nodiscard]] nlohmann::json optimizationJson(const engine::Optimization& found,
                                              const std::string& mainFile, TextLookup& texts,
                                              PositionEncoding encoding);

} // namespace kernelskill::lsp
