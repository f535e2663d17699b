#include "engine/program/make_workloads.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace kernelskill::engine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MakeWorkloads : public ::testing::Test {
protected:
    FoundWorkloads found(std::string_view makefile) const {
        folder.write("Makefile", makefile);
        return makeWorkloads(folder.path());
    }
    ProgramFolder folder;
};

TEST_F(MakeWorkloads, TheTargetRunIsTheCommandOfItsRecipe) {
    const Workload run = named(found("# the program\n"
                                     "NAME := saxpy\n"
                                     "ARGS = --size ${N} \\\n"
                                     "   --fast # always\n"
                                     "N ?= 1024\n"
                                     "$(NAME): $(NAME).cu\n"
                                     "\tnvcc -o $@ $<\n"
                                     "run: $(NAME)\n"
                                     "\t@echo \"running $<\"\n"
                                     "\t-@./$< $(ARGS)\n"),
                               "run");
    EXPECT_THAT(run.command, ElementsAre("./saxpy", "--size", "1024", "--fast"));
    EXPECT_THAT(run.build, ElementsAre("make", "saxpy"));
    EXPECT_EQ(run.folder, folder.path());
    EXPECT_EQ(run.origin, "Makefile:8");
}

TEST_F(MakeWorkloads, WhatOnlyMakeKnowsIsLeftToMake) {
    for (const char* text :
         {"run:\n\t./a $(shell nproc)\n", "run:\n\t./a $(wildcard *.txt)\n",
          "ifeq ($(X),1)\nN = 1\nelse\nN = 2\nendif\nrun:\n\t./a $(N)\n",
          "include other.mk\nrun:\n\t./a $(NOBODY_SETS_THIS)\n", "run:\n\tmake a\n\t./a\n",
          "run:\n\t./a $(\n", "run: a\n", "N != date\nrun:\n\t./a $(N)\n",
          "define N\n1\nendef\nrun:\n\t./a $(N)\n", "A = $(B)\nB = $(A)\nrun:\n\t./a $(A)\n"}) {
        SCOPED_TRACE(text);
        EXPECT_THAT(named(found(text), "run").command, ElementsAre("make", "run"));
    }
}

TEST_F(MakeWorkloads, VariablesThatGrowWithoutEndAreNotFollowed) {
    std::string text = "V0 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n";
    for (int i = 1; i < 40; ++i) {
        const std::string before = "$(V" + std::to_string(i - 1) + ")";
        text += "V" + std::to_string(i) + " = " + before + before + before + "\n";
    }
    EXPECT_THAT(named(found(text + "run:\n\t./a $(V39)\n"), "run").command,
                ElementsAre("make", "run"));
}

TEST_F(MakeWorkloads, ShellSyntaxInARecipeStaysAShellsLine) {
    EXPECT_THAT(named(found("run:\n\tcd bin && ./a $$HOME\n"), "run").command,
                ElementsAre("/bin/sh", "-c", "cd bin && ./a $HOME"));
}

TEST_F(MakeWorkloads, VariablesOfATargetAndRecipesBehindASemicolonCount) {
    EXPECT_THAT(named(found("run: N = 7\nrun: ; ./a $(N)\n"), "run").command,
                ElementsAre("./a", "7"));
    EXPECT_THAT(named(found("all:\nrun:: a | b\n\t./a\n"), "run").build,
                ElementsAre("make", "a", "b"));
}

TEST_F(MakeWorkloads, UndefinedVariablesAreTheEnvironmentsOrEmpty) {
    ::setenv("KERNELSKILL_TEST_ARGUMENT", "5", 1);
    EXPECT_THAT(
        named(found("run:\n\t./a $(KERNELSKILL_TEST_ARGUMENT) $(KERNELSKILL_TEST_NONE)\n"), "run")
            .command,
        ElementsAre("./a", "5"));
    ::unsetenv("KERNELSKILL_TEST_ARGUMENT");
}

TEST_F(MakeWorkloads, WithoutRunTheLinkedProgramsAreTaken) {
    const auto programs = found("NVCC = /usr/local/cuda/bin/nvcc\n"
                                "all: bfs tools\n"
                                "bfs: bfs.o\n\t$(NVCC) -o bin/$@ $<\n"
                                "bfs.o: bfs.cu\n\t$(NVCC) -c -o $@ $<\n"
                                "lib.so: lib.cu\n\t$(NVCC) --shared -o $@ $<\n"
                                "%.x: %.cu\n\tnvcc -o $@ $<\n"
                                "tools: t.c\n\tcc -o t t.c\n");
    ASSERT_EQ(programs.workloads.size(), 1U);
    EXPECT_THAT(programs.workloads[0].command, ElementsAre("bin/bfs"));
    EXPECT_THAT(programs.workloads[0].build, ElementsAre("make", "bfs"));
}

TEST_F(MakeWorkloads, OddFilesGiveNothingOrANote) {
    EXPECT_THAT(makeWorkloads(folder.path()).workloads, IsEmpty());
    EXPECT_THAT(makeWorkloads(folder.path()).notes, IsEmpty());
    for (const std::string text : {"", ":", "\t", "=", "a:=", "\\", "run", "$(",
                                   "endif\nelse\nendef", ":::::\n\t\\\n", "\xff\xfe\x00"}) {
        const auto programs = found(text);
        EXPECT_THAT(programs.workloads, IsEmpty()) << text;
        EXPECT_THAT(programs.notes, ElementsAre(HasSubstr("has no target `run`")));
    }
}

} // namespace
} // namespace kernelskill::engine::testing
