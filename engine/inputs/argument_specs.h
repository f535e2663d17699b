/// Makes the buffers and bytes that a launch passes from a kernel's parameters.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/scan/expression.h"
#include "analysis/source/error.h"
#include "engine/execution/job.h"
#include "engine/inputs/kernel_text.h"
#include "engine/inputs/program_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A parameter's type with the template's arguments put in.
struct PassedType {
    analysis::ScalarKind scalar = analysis::ScalarKind::Unknown;
    std::uint32_t bytes =
        0; ///< Size of the pointee for a pointer, else of the object; 0 when unknown.
    bool isPointer = false;
    std::string name; ///< Without namespaces, qualifiers and template arguments.
};

/// "unsigned int" → UInt32; Unknown for a class.
[[nodiscard]] analysis::ScalarKind scalarKindOf(std::string_view type);

/// Unsupported, naming the parameter and its line, for what cannot be passed: pointers to pointers,
/// to functions, and classes with pointers inside.
[[nodiscard]] Result<PassedType> passedType(const ProgramText& program,
                                            const analysis::FileModel& file,
                                            const analysis::KernelModel& kernel,
                                            const analysis::Parameter& parameter,
                                            const std::vector<std::string>& templateArguments);

/// The bytes of a value of the type, which is one of the floating-point types.
[[nodiscard]] std::vector<std::byte> floatingBytes(analysis::ScalarKind kind, double value);

/// A class whose size is not known gets as many bytes as all parameters of a kernel may have.
[[nodiscard]] ScalarSpec scalarSpec(const ProgramText& program,
                                    const analysis::Parameter& parameter, const PassedType& type,
                                    const analysis::Value& value);

/// How the kernel uses a pointer decides what its elements may be. `indexRange`: what indices must
/// stay below.
[[nodiscard]] BufferSpec bufferSpec(const ProgramText& program,
                                    const analysis::Parameter& parameter, const PassedType& type,
                                    const std::optional<KernelText>& text, std::int64_t indexRange);

} // namespace kernelskill::engine
