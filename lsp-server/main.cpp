#include "analysis/parse/translation_unit.h"
#include "lsp-server/commands/command_line.h"

#include <csignal>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    // A client or a pager that stops reading is no reason to die before cleaning up.
    std::signal(SIGPIPE, SIG_IGN);
    kernelskill::analysis::prepareParser();
    try {
        return kernelskill::lsp::runCommandLine(argc, argv);
    } catch (const std::exception& defect) {
        std::fprintf(stderr, "kernelskill: unexpected: %s\n", defect.what());
        return 1;
    }
}
