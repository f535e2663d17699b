/// A text with its model, parsed with the built-in prelude.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/inputs/launch_inference.h"

#include <string>

namespace kernelskill::engine {

[[nodiscard]] analysis::FileModel parsedProgram(const std::string& text);

/// The best launch of the first kernel of `text`; fails the test when there is none.
[[nodiscard]] LaunchSpec bestLaunch(const std::string& text,
                                    LaunchTarget target = LaunchTarget::Emulator);
[[nodiscard]] const ScalarSpec* scalarNamed(const LaunchSpec& launch, std::string_view name);
[[nodiscard]] const BufferSpec* bufferNamed(const LaunchSpec& launch, std::string_view name);

} // namespace kernelskill::engine
