// Solves chains with three.js's CCDIKSolver: cases as JSON on stdin, errors and milliseconds per solve on stdout.
// Run by chains_table.py in a folder that has the npm package three. Space: three's, Y along the straight chain.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Bone, Euler, Quaternion, Skeleton, Vector3 } from 'three';
import { CCDIKSolver } from 'three/examples/jsm/animation/CCDIKSolver.js';

function rigOf(count, length) {
  const bones = [];
  for (let i = 0; i <= count; i++) {
    const bone = new Bone();
    bone.position.set(0, i ? length : 0, 0);
    if (i) bones[i - 1].add(bone);
    bones.push(bone);
  }
  bones.push(new Bone()); // the target, on its own
  return bones;
}

function linksOf(one) {
  const links = [];
  for (let i = one.bones - 1; i >= 0; i--) {
    const hinge = one.hinges[i];
    const link = { index: i };
    if (hinge) {
      const [axis, low, high] = hinge;
      link.rotationMin = new Vector3(...['X', 'Y', 'Z'].map((name) => (name === axis ? low : 0)));
      link.rotationMax = new Vector3(...['X', 'Y', 'Z'].map((name) => (name === axis ? high : 0)));
    }
    links.push(link);
  }
  return links;
}

function solveCase(one) {
  const bones = rigOf(one.bones, 1 / one.bones);
  const mesh = { skeleton: new Skeleton(bones) };
  const ik = { target: one.bones + 1, effector: one.bones, links: linksOf(one), iteration: one.iterations };
  const solver = new CCDIKSolver(mesh, [ik]);
  const errors = [];
  let spent = 0;
  for (const target of one.targets) {
    one.start.forEach(([x, y, z], i) => bones[i].quaternion.setFromEuler(new Euler(x, y, z)));
    bones[one.bones + 1].position.set(...target);
    bones[one.bones + 1].updateMatrixWorld(true);
    bones[0].updateMatrixWorld(true);
    const begun = performance.now();
    solver.update();
    spent += performance.now() - begun;
    bones[0].updateMatrixWorld(true);
    errors.push(new Vector3().setFromMatrixPosition(bones[one.bones].matrixWorld).distanceTo(new Vector3(...target)));
  }
  return { errors, ms: spent / one.targets.length };
}

const cases = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(cases.map(solveCase)));
