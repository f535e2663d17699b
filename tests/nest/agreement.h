/// Compares what a nest tells of a kernel with what the kernel did.
#pragma once

#include "analysis/nest/dependences.h"
#include "tests/nest/recorded_run.h"

#include <string>
#include <vector>

namespace kernelskill::testing {

/// Whether each access is of one number. Others, of vectors and objects, need not be recorded one
/// by one, and those of calls' arguments and results are recorded in optimised code alone.
[[nodiscard]] bool usesNumbersAlone(const analysis::Nest& nest);

/// Each a sentence; none where nest and run agree. Where the nest tells exactly what happens, each
/// thread's accesses have to be those of the nest, as often; where it does not, what it tells for
/// certain has to happen, and nothing that it excludes.
[[nodiscard]] std::vector<std::string>
accessDisagreements(const analysis::Nest& nest, const NestRun& run,
                    const std::vector<RecordedAccess>& recorded);

/// Accesses that met at run time though the nest's dependences say that they never do, or that
/// no barrier separated though they say so.
[[nodiscard]] std::vector<std::string>
dependenceDisagreements(const analysis::Nest& nest, const analysis::NestDependences& dependences,
                        const NestRun& run, const std::vector<RecordedAccess>& recorded);

/// Index sets and counts by isl that are not those of the run, for all blocks of `blocks`.
[[nodiscard]] std::vector<std::string> setDisagreements(const analysis::Nest& nest,
                                                        const NestSizes& sizes, const NestRun& run,
                                                        const std::vector<Index3>& blocks);

} // namespace kernelskill::testing
