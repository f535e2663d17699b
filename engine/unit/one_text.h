/// A program with the header that defines a kernel written into its main file, so that one text
/// holds the kernel and the code around it.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/text_edit.h"
#include "engine/execution/program_source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

class OneText {
public:
    /// Writes `header`, a user file that the program includes, in place of its #include, and those
    /// on the way to it too. Failed if the program does not mean the same then: the header is not
    /// found, or the text has errors that the program does not have.
    [[nodiscard]] static Result<OneText> make(const ProgramSource& program,
                                              const std::string& header,
                                              const analysis::Toolchain& toolchain);

    /// The same for a program that is read through an includer (CompileCommand::includer): the
    /// includer becomes the main file, and `program`'s own file is the header.
    [[nodiscard]] static Result<OneText> ofIncluder(const ProgramSource& program,
                                                    const analysis::Toolchain& toolchain);

    /// With its model. The main file has another text than on disk.
    [[nodiscard]] const ProgramSource& program() const { return program_; }

    /// Edits of program() as edits of the files. What they include goes to the header that defines
    /// the kernel, since other files may include that. Failed if one changes an #include that was
    /// replaced.
    [[nodiscard]] Result<analysis::EditSet> inFiles(const analysis::EditSet& edits) const;

private:
    /// A part of the text that a file has as well.
    struct Part {
        std::string file;
        std::uint32_t begin = 0; ///< In the text.
        std::uint32_t inFile = 0;
        std::uint32_t length = 0;
    };
    class Writer;

    /// The edit at the head of the kernel's header, if it does nothing but include something.
    [[nodiscard]] std::optional<analysis::TextEdit>
    asIncludeOfHeader(const analysis::TextEdit& edit) const;

    ProgramSource program_;
    std::vector<Part> parts_;    ///< In the order of the text.
    std::size_t kernelPart_ = 0; ///< The index of the header that was asked for, which is whole.
};

} // namespace kernelskill::engine
