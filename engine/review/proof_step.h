/// The step of a review that tries to prove the edit before anything runs.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/inputs/trial.h"
#include "engine/verdict/verdict.h"
#include "skills/base/skill.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine {

/// If the edit is proved, adds a check that says so and leaves one run in `plan`: that of the
/// file's own launch, which shows that the edit compiles, runs and adds no hazard. Sets the
/// verdict's confidence and proof. When `stop` is requested, the edit is not proved.
void takeProof(KernelRef original, KernelRef candidate, skills::Numerics numerics, TrialPlan& plan,
               Verdict& verdict, const std::stop_token& stop);

/// Leaves one run of the first trial, and what programs computed with.
void keepOneRun(TrialPlan& plan);

/// `summary` and the verdict's proof, if it has one.
[[nodiscard]] std::string withProof(const Verdict& verdict, std::string summary);

} // namespace kernelskill::engine
