// In the process of the tests: notes how far each test came, so that its hooks' failures are told from its own.
import { VitestTestRunner } from "vitest/runners";
import { getFn } from "vitest/suite";

export default class extends VitestTestRunner {
  onBeforeTryTask(test, options) {
    test.meta.began = false;
    return super.onBeforeTryTask?.(test, options);
  }

  async runTask(test) {
    test.meta.began = true;
    await getFn(test)();
  }

  onTaskFinished(test) {
    test.meta.errorsUntilEnd = test.result?.errors?.length ?? 0;
  }
}
