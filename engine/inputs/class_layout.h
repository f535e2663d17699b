/// Reads from the text of a class where its objects keep their numbers.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/inputs/program_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The type's name without qualifiers, namespaces, pointers and template arguments.
[[nodiscard]] std::string bareTypeName(std::string_view type);

/// A data member of a class.
struct ClassField {
    std::string name;
    std::string type;
    bool isArray = false;
    bool isPointer = false;
};

/// The data members of a class of the user's files; nullopt if its text is not there.
[[nodiscard]] std::optional<std::vector<ClassField>> fieldsOf(const ProgramText& program,
                                                              const std::string& name);

/// A number in an object of a class.
struct ClassNumber {
    std::string name;
    analysis::ScalarKind kind = analysis::ScalarKind::Unknown;
    std::size_t offset = 0; ///< Bytes from the object's start.
    std::size_t bytes = 0;  ///< The size; 8 is the max.
};

struct ClassLayout {
    /// The numbers in order, up to the first member whose place or type is not known.
    std::vector<ClassNumber> numbers;
    /// An object holds these numbers and nothing else.
    bool isWhole = false;
};

[[nodiscard]] ClassLayout layoutOf(const ProgramText& program, const std::string& type);

} // namespace kernelskill::engine
