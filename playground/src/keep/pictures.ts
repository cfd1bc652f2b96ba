/** Pictures of the stage, as PNG or as a short film. */

const GAP = 8;

/** All canvases of the stage on one, arranged as nearly square as possible. */
export class Collage {
  readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d")!;
  private readonly columns: number;

  constructor(
    private readonly parts: readonly HTMLCanvasElement[],
    private readonly paper: string,
  ) {
    this.columns = Math.ceil(Math.sqrt(parts.length));
    const rows = Math.ceil(parts.length / this.columns);
    const [wide, high] = [parts[0]?.width ?? 1, parts[0]?.height ?? 1];
    // Films need even numbers of pixels.
    this.canvas.width = even(this.columns * (wide + GAP) - GAP);
    this.canvas.height = even(rows * (high + GAP) - GAP);
  }

  draw(): void {
    const { context, canvas, parts, columns } = this;
    context.fillStyle = this.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    parts.forEach((part, k) => {
      context.drawImage(part, (k % columns) * (part.width + GAP), Math.floor(k / columns) * (part.height + GAP));
    });
  }
}

function even(length: number): number {
  return length + (length % 2);
}

export async function picture(parts: readonly HTMLCanvasElement[], paper: string): Promise<Blob> {
  const collage = new Collage(parts, paper);
  collage.draw();
  const blob = await new Promise<Blob | null>((resolve) => collage.canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("this browser cannot make a picture of this size");
  return blob;
}

const FRAMES = 30; // per second
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

/** A film that is being recorded. */
export class Film {
  private readonly collage: Collage;
  private readonly recorder: MediaRecorder;
  private readonly pieces: Blob[] = [];
  private running = true;

  constructor(parts: readonly HTMLCanvasElement[], paper: string) {
    const type = typeof MediaRecorder === "undefined" ? undefined : TYPES.find((one) => MediaRecorder.isTypeSupported(one));
    if (!type) throw new Error("this browser cannot record films");
    this.collage = new Collage(parts, paper);
    this.recorder = new MediaRecorder(this.collage.canvas.captureStream(FRAMES), { mimeType: type, videoBitsPerSecond: 4e6 });
    this.recorder.addEventListener("dataavailable", (event) => this.pieces.push(event.data));
    const frame = (): void => {
      if (!this.running) return;
      this.collage.draw();
      requestAnimationFrame(frame);
    };
    frame();
    this.recorder.start();
  }

  get extension(): string {
    return this.recorder.mimeType.startsWith("video/mp4") ? "mp4" : "webm";
  }

  async stop(): Promise<Blob> {
    const stopped = new Promise((resolve) => this.recorder.addEventListener("stop", resolve, { once: true }));
    this.recorder.stop();
    await stopped;
    this.running = false;
    for (const track of this.recorder.stream.getTracks()) track.stop();
    return new Blob(this.pieces, { type: this.recorder.mimeType });
  }
}
