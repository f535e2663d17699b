/// An error as a value: what happened, where, and what the user can do about it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace kernelskill {

enum class ErrorKind : std::uint8_t {
    InvalidInput, ///< The user's file, flags or arguments cannot be used. CLI exit status 2.
    Missing, ///< Something that the request needs is absent on this machine. CLI exit status 3.
    /// Understood, and refused by name (e.g. a kernel that uses textures). Exit status 1.
    Unsupported,
    Failed,    ///< The attempt failed: compile error, crash, time-out. Exit status 1.
    Cancelled, ///< The caller asked to stop.
    Internal,  ///< A defect of KernelSkill itself. Always worth a bug report.
};

struct Error {
    ErrorKind kind = ErrorKind::Internal;
    std::string what;   ///< One sentence without a full stop.
    std::string where;  ///< `file:line`, a request name or a path; may be empty.
    std::string remedy; ///< A remedy for the user; empty if there is none.

    /// "what (where). remedy", for logs and terminals.
    [[nodiscard]] std::string describe() const;
};

template <typename T>
using Result = std::expected<T, Error>;

} // namespace kernelskill
